// SPDX-License-Identifier: GPL-2.0-or-later

// Goroutines that wait for each other, grow their stacks, panic and end in the middle. Each keeps a log of its own
// calls; all logs are printed as trees, indented by how many calls are open.
package main

import (
	"runtime"
	"strings"
	"sync"
	"syscall"
)

type tree struct {
	lines []string
	depth int
}

var all struct {
	sync.Mutex
	trees []*tree
}

func begin() *tree {
	t := &tree{}
	all.Lock()
	all.trees = append(all.trees, t)
	all.Unlock()
	return t
}

//go:noinline
func (t *tree) enter(name string) int {
	t.lines = append(t.lines, strings.Repeat("  ", t.depth)+name)
	t.depth++
	return t.depth - 1
}

//go:noinline
func leaf(t *tree, n int) int {
	d := t.enter("main.leaf")
	t.depth = d
	return n * 2
}

//go:noinline
func recurse(t *tree, n int) int {
	d := t.enter("main.recurse")
	r := leaf(t, n)
	if n > 0 {
		r += recurse(t, n-1)
	}
	t.depth = d
	return r
}

// A frame that makes the stack grow, which is copied.
//
//go:noinline
func grow(t *tree, n int) int {
	d := t.enter("main.grow")
	var b [1000]byte
	b[n] = byte(n)
	r := leaf(t, n)
	if n > 0 {
		r += grow(t, n-1)
	}
	t.depth = d
	return r + int(b[n])
}

//go:noinline
func receive(t *tree, c chan int) (int, bool) {
	d := t.enter("main.receive")
	n, ok := <-c
	leaf(t, n)
	t.depth = d
	return n, ok
}

//go:noinline
func send(t *tree, c chan int, n int) {
	d := t.enter("main.send")
	leaf(t, n)
	c <- n
	leaf(t, n)
	t.depth = d
}

//go:noinline
func yield(t *tree) {
	d := t.enter("main.yield")
	runtime.Gosched()
	leaf(t, 0)
	t.depth = d
}

//go:noinline
func fail(t *tree, n int) {
	d := t.enter("main.fail")
	if n == 0 {
		panic("failed")
	}
	fail(t, n-1)
	t.depth = d
}

//go:noinline
func protect(t *tree, n int) (r int) {
	d := t.enter("main.protect")
	defer func() {
		recover()
		r = recurse(t, 1)
		t.depth = d
	}()
	fail(t, n)
	return 0
}

//go:noinline
func worker(c chan int, done *sync.WaitGroup, id int) {
	t := begin()
	d := t.enter("main.worker")
	for i := 0; ; i++ {
		n, ok := receive(t, c)
		if !ok {
			break
		}
		recurse(t, n%4)
		yield(t)
		if i == 3 {
			grow(t, 20+id)
		}
	}
	t.depth = d
	done.Done()
}

//go:noinline
func pinger(in, out chan int, done *sync.WaitGroup) {
	t := begin()
	d := t.enter("main.pinger")
	for i := 0; i < 20; i++ {
		n, _ := receive(t, in)
		send(t, out, n+1)
	}
	t.depth = d
	done.Done()
}

//go:noinline
func quitter(done *sync.WaitGroup, n int) {
	t := begin()
	t.enter("main.quitter")
	defer done.Done()
	recurse(t, n)
	runtime.Goexit()
}

func main() {
	t := begin()
	t.enter("main.main")
	var done sync.WaitGroup
	c := make(chan int)
	for i := 0; i < 8; i++ {
		done.Add(1)
		go worker(c, &done, i)
	}
	for i := 0; i < 200; i++ {
		send(t, c, i)
	}
	close(c)
	done.Wait()
	a, b := make(chan int), make(chan int)
	done.Add(1)
	go pinger(a, b, &done)
	for i := 0; i < 20; i++ {
		send(t, a, i)
		receive(t, b)
	}
	for i := 0; i < 10; i++ {
		protect(t, i)
	}
	for i := 0; i < 10; i++ {
		done.Add(1)
		go quitter(&done, i%3)
	}
	done.Wait()
	grow(t, 100)
	leaf(t, 0)
	for _, one := range all.trees {
		syscall.Write(1, []byte(strings.Join(one.lines, "\n")+"\n"))
	}
}
