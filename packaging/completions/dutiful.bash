# bash completion for dutiful(1).
_dutiful() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "run check next prev explain status history account simulate verify import-crontab -h --help --version" -- "$current")
    return
  fi
  case $previous in
    --log) mapfile -t COMPREPLY < <(compgen -W "human json" -- "$current"); return ;;
    --repeated) mapfile -t COMPREPLY < <(compgen -W "both first_only" -- "$current"); return ;;
    --override) mapfile -t COMPREPLY < <(compgen -W "keep_history reset_history" -- "$current"); return ;;
    --allow) mapfile -t COMPREPLY < <(compgen -W "failing overdue failing,overdue" -- "$current"); return ;;
    --state|--trace|--listen-token-file) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    --grace|--kill-grace|--max-concurrent|--history|--history-output|--count|--since|--max-overdue|--listen|--listen-host|--metrics-tasks|--from|--lag|--a|--b) return ;;
    --zone)
      mapfile -t COMPREPLY < <(cd "${TZDIR:-/usr/share/zoneinfo}" 2>/dev/null && compgen -f -- "$current")
      return
      ;;
  esac
  if [[ $current == -* ]]; then
    local options="-h --help"
    case $command in
      run) options+=" --state --grace --kill-grace --max-concurrent --repeated --override --allow-empty --history --history-output --listen --listen-host --listen-token-file --metrics-tasks --max-overdue --log --output --trace --verify --verbose" ;;
      check) options+=" --repeated --json" ;;
      explain) options+=" --json" ;;
      next|prev) options+=" --from --count --zone --repeated --json" ;;
      status) options+=" --state --repeated --check --allow --max-overdue --json" ;;
      history) options+=" --state --count --failed --since --full --follow --json" ;;
      account) options+=" --state --since --days --repeated --json" ;;
      verify) options+=" --lag --a --b --repeated --override --json" ;;
      import-crontab) options+=" --system" ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
    return
  fi
  case $command in
    run|check|simulate|verify|import-crontab) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
  esac
}
complete -o filenames -F _dutiful dutiful
