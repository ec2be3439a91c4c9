// The past operators of the theory as state that moves with the trace.
//
// A formula about the past is a value that is updated at each position of the trace. Only positions
// at which `set` or `clear` is true can change it, so only those call step().
#pragma once

namespace dutiful::theory {

// Hold(set, clear) := ((¬clear) S set) ∧ ¬clear
//
// There was a set, and no clear since. If both happen at once, it is false.
class Hold {
 public:
  void step(bool set, bool clear) { holds_ = (set || holds_) && !clear; }
  explicit operator bool() const { return holds_; }

 private:
  bool holds_ = false;
};

// Hold⁺(set, clear) := Hold(set, clear) ∨ set
//
// The same, but if both happen at once, it is true.
class HoldPlus {
 public:
  void step(bool set, bool clear) { holds_ = set || (holds_ && !clear); }
  explicit operator bool() const { return holds_; }

 private:
  bool holds_ = false;
};

}  // namespace dutiful::theory
