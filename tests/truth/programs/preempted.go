// SPDX-License-Identifier: GPL-2.0-or-later

// Goroutines that signals preempt: each computes, in loops that call nothing, between calls and in small functions, while
// another one stops them all again and again to collect garbage. Faults are recovered. Each keeps a log of its own calls;
// all logs are printed as trees, indented by how many calls are open.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
)

type tree struct {
	lines []string
	depth int
}

type node struct {
	value int
}

var sink int

//go:noinline
func (t *tree) enter(name string) int {
	t.lines = append(t.lines, strings.Repeat("  ", t.depth)+name)
	t.depth++
	return t.depth - 1
}

// A leaf without a stack frame: it may be preempted where it begins.
//
//go:noinline
func add(a, b int) int {
	return a*3 + b
}

//go:noinline
func leaf(t *tree, n int) int {
	d := t.enter("main.leaf")
	r := n
	for i := 0; i < n; i++ {
		r = r*5 + i
	}
	t.depth = d
	return r
}

//go:noinline
func spin(t *tree, n int) int {
	d := t.enter("main.spin")
	r := 0
	for i := 0; i < n; i++ {
		r = r*7 + i
		if r == 1 {
			r = leaf(t, r)
		}
	}
	r += leaf(t, n/2)
	for i := 0; i < n/10; i++ {
		r = add(r, i)
	}
	t.depth = d
	return r
}

//go:noinline
func recurse(t *tree, n, loops int) int {
	d := t.enter("main.recurse")
	r := spin(t, loops)
	if n > 0 {
		r += recurse(t, n-1, loops)
	}
	for i := 0; i < loops; i++ {
		r = r*3 + i
	}
	t.depth = d
	return r
}

// Code that a pointer reaches: calls and returns that code does not name.
//
//go:noinline
func apply(t *tree, f func(*tree, int) int, n int) int {
	d := t.enter("main.apply")
	r := f(t, n)
	for i := 0; i < n; i++ {
		r ^= i
	}
	r += f(t, n+1)
	t.depth = d
	return r
}

//go:noinline
func fault(t *tree, p *node) int {
	t.enter("main.fault")
	return p.value
}

//go:noinline
func protect(t *tree, p *node) (r int) {
	d := t.enter("main.protect")
	defer func() {
		recover()
		r = leaf(t, 1000)
		t.depth = d
	}()
	return fault(t, p)
}

func worker(t *tree, loops int, running *int32, stop *int32) {
	d := t.enter("main.worker")
	for round := 0; round < 2 || (atomic.LoadInt32(stop) == 0 && round < 40); round++ {
		sink += recurse(t, 3, loops)
		sink += apply(t, leaf, loops)
		protect(t, nil)
	}
	t.depth = d
	atomic.AddInt32(running, -1)
}

func main() {
	const workers, collections = 4, 15
	var trees [workers]tree
	running, stop := int32(workers), int32(0)
	var done sync.WaitGroup
	for i := range trees {
		done.Add(1)
		go func(i int) {
			worker(&trees[i], 20000+1000*i, &running, &stop)
			done.Done()
		}(i)
	}
	for i := 0; i < collections && atomic.LoadInt32(&running) > 0; i++ {
		runtime.GC()
	}
	atomic.StoreInt32(&stop, 1)
	done.Wait()
	for _, one := range trees {
		fmt.Fprintln(os.Stdout, strings.Join(one.lines, "\n"))
	}
}
