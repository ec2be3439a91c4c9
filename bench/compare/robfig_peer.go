// Runs the set through robfig/cron. cron_peer.cc describes the input and the output.
//
// A schedule without a zone uses the zone of the time it is asked about, as the library documents.
// CRON_TZ=… in the text would load the zone again for every expression.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron"
)

var (
	zone        *time.Location
	expressions []string
	instants    []time.Time
	cases       [][2]string
	output      = bufio.NewWriter(os.Stdout)
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "robfig_peer:", err)
		os.Exit(1)
	}
}

func toTime(text string) time.Time {
	seconds, err := strconv.ParseInt(text, 10, 64)
	check(err)
	return time.Unix(seconds, 0).In(zone)
}

func read(path string) {
	file, err := os.Open(path)
	check(err)
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Split(lines.Text(), "\t")
		switch fields[0] {
		case "zone":
			zone, err = time.LoadLocation(fields[1])
			check(err)
		case "expression":
			expressions = append(expressions, fields[1])
		case "instant":
			instants = append(instants, toTime(fields[1]))
		case "case":
			cases = append(cases, [2]string{fields[1], fields[2]})
		}
	}
}

// Prints the answer and returns whether there was one.
func answer(schedule cron.Schedule, err error, text string, after time.Time) bool {
	fmt.Fprintf(output, "answer\t%d\t%s\t", after.Unix(), text)
	if err != nil {
		fmt.Fprintln(output, "!", err)
		return false
	}
	next := schedule.Next(after)
	if next.IsZero() {
		fmt.Fprintln(output, "! found none within five years")
		return false
	}
	fmt.Fprintln(output, next.Unix())
	return true
}

// The mean time of one call in nanoseconds, over as many passes as fill a second.
func meanOfCall(calls int, pass func()) float64 {
	passes := 0
	begin := time.Now()
	for time.Since(begin) < time.Second {
		pass()
		passes++
	}
	return float64(time.Since(begin).Nanoseconds()) / float64(passes*calls)
}

func main() {
	read(os.Args[1])
	for _, one := range cases {
		schedule, err := cron.ParseStandard(one[1])
		answer(schedule, err, one[1], toTime(one[0]))
	}
	var answered []string
	var schedules []cron.Schedule
	for _, text := range expressions {
		schedule, err := cron.ParseStandard(text)
		all := true
		for _, instant := range instants {
			all = answer(schedule, err, text, instant) && all
		}
		if all {
			answered = append(answered, text)
			schedules = append(schedules, schedule)
		}
	}

	fmt.Fprintf(output, "parse\t%.1f\n", meanOfCall(len(answered), func() {
		for _, text := range answered {
			cron.ParseStandard(text)
		}
	}))
	fmt.Fprintf(output, "next\t%.1f\n", meanOfCall(len(schedules)*len(instants), func() {
		for _, schedule := range schedules {
			for _, instant := range instants {
				schedule.Next(instant)
			}
		}
	}))
	output.Flush()
}
