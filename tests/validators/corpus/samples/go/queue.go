// Package queue runs jobs by priority on a bounded set of workers.
package queue

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrClosed is returned by Push after Close.
var ErrClosed = errors.New("queue: closed")

const (
	Low Priority = iota - 1
	Normal
	High
)

// Priority orders jobs; the higher runs first.
type Priority int

func (p Priority) String() string {
	switch p {
	case Low:
		return "low"
	case High:
		return "high"
	default:
		return fmt.Sprintf("priority(%d)", int(p))
	}
}

// Job is one piece of work.
type Job[T any] struct {
	Name     string `json:"name"`
	Priority Priority
	Run      func(ctx context.Context) (T, error)
	index    int
	added    time.Time
}

type jobs[T any] []*Job[T]

func (j jobs[T]) Len() int { return len(j) }

func (j jobs[T]) Less(a, b int) bool {
	if j[a].Priority != j[b].Priority {
		return j[a].Priority > j[b].Priority
	}
	return j[a].added.Before(j[b].added)
}

func (j jobs[T]) Swap(a, b int) {
	j[a], j[b] = j[b], j[a]
	j[a].index, j[b].index = a, b
}

func (j *jobs[T]) Push(x any) {
	job := x.(*Job[T])
	job.index = len(*j)
	*j = append(*j, job)
}

func (j *jobs[T]) Pop() any {
	old := *j
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*j = old[:len(old)-1]
	return last
}

// Queue is safe for use by many goroutines.
type Queue[T any] struct {
	mu      sync.Mutex
	cond    *sync.Cond
	waiting jobs[T]
	closed  bool
	results chan<- Result[T]
	done    map[string]struct{}
}

// Result tells how a job ended.
type Result[T any] struct {
	Name  string
	Value T
	Err   error
}

// New starts a queue with some workers.
func New[T any](workers int, results chan<- Result[T]) *Queue[T] {
	q := &Queue[T]{results: results, done: map[string]struct{}{}}
	q.cond = sync.NewCond(&q.mu)
	for i := 0; i < workers; i++ {
		go q.work(i)
	}
	return q
}

// Push adds jobs; none of them if the queue is closed.
func (q *Queue[T]) Push(added ...*Job[T]) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return ErrClosed
	}
	for _, job := range added {
		if _, ok := q.done[job.Name]; ok {
			continue
		}
		job.added = time.Now()
		heap.Push(&q.waiting, job)
	}
	q.cond.Broadcast()
	return nil
}

func (q *Queue[T]) next() (*Job[T], bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting) == 0 {
		if q.closed {
			return nil, false
		}
		q.cond.Wait()
	}
	return heap.Pop(&q.waiting).(*Job[T]), true
}

func (q *Queue[T]) work(number int) {
	for {
		job, ok := q.next()
		if !ok {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		value, err := q.guarded(ctx, job)
		cancel()
		if err != nil {
			err = fmt.Errorf("worker %d: %s: %w", number, job.Name, err)
		}
		q.results <- Result[T]{Name: job.Name, Value: value, Err: err}
	}
}

func (q *Queue[T]) guarded(ctx context.Context, job *Job[T]) (value T, err error) {
	defer func() {
		if caught := recover(); caught != nil {
			err = fmt.Errorf("panic: %v", caught)
		}
	}()
	return job.Run(ctx)
}

// Close lets the workers finish what waits.
func (q *Queue[T]) Close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.cond.Broadcast()
}
