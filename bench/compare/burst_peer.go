// Many entries of robfig/cron, all due at one instant: prints how long after it they started.
package main

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/robfig/cron"
)

// Due once.
type at struct{ instant time.Time }

func (a at) Next(after time.Time) time.Time {
	if after.Before(a.instant) {
		return a.instant
	}
	return time.Time{}
}

func main() {
	tasks, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "burst_peer: how many tasks?", err)
		os.Exit(1)
	}
	// Enough time to register all entries, which is not measured.
	due := time.Now().Add(3*time.Second + time.Duration(tasks)*3*time.Microsecond).Truncate(time.Second)
	starts := make([]int64, tasks)
	var next int64
	done := make(chan bool)
	runner := cron.New()
	for i := 0; i < tasks; i++ {
		runner.Schedule(at{due}, cron.FuncJob(func() {
			place := atomic.AddInt64(&next, 1)
			starts[place-1] = int64(time.Since(due))
			if int(place) == tasks {
				close(done)
			}
		}))
	}
	runner.Start()
	if time.Now().After(due) {
		fmt.Fprintln(os.Stderr, "burst_peer: registering took too long")
		os.Exit(1)
	}
	<-done
	time.Sleep(100 * time.Millisecond) // the last few may still be recording their start
	sort.Slice(starts, func(i, j int) bool { return starts[i] < starts[j] })
	fmt.Println(float64(starts[0])/1e9, float64(starts[tasks/2])/1e9, float64(starts[tasks-1])/1e9)
}
