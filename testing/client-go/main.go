// A Go elector for the tests of @leasehold/kubernetes: client-go's leader election on one Lease, as a process. It prints a line of
// JSON when it begins to contend, to lead, and to lead no more, with the time of the monotonic clock in milliseconds. With -record,
// it prints each request with its answer, too.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
	"unsafe"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

const clockMonotonic = 1

type line map[string]interface{}

var output sync.Mutex

func tell(said line) {
	var now syscall.Timespec
	// All processes of the machine share this clock.
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&now)), 0)
	said["at"] = float64(now.Nano()) / 1e6
	output.Lock()
	defer output.Unlock()
	json.NewEncoder(os.Stdout).Encode(said)
}

// leadership of this process. With ReleaseOnCancel, the work of a leader has to end before the context is cancelled: from then on,
// another may lead.
type leadership struct {
	mutex   sync.Mutex
	leads   bool
	isEnded bool
}

func (l *leadership) begin(ctx context.Context) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.isEnded || ctx.Err() != nil {
		return
	}
	l.leads = true
	tell(line{"event": "started"})
}

func (l *leadership) lose() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.leads {
		tell(line{"event": "stopped"})
	}
	l.leads = false
}

func (l *leadership) end() {
	l.mutex.Lock()
	l.isEnded = true
	l.mutex.Unlock()
	l.lose()
}

// transport says when the server has answered for the first time: from then on, the elector contends.
type transport struct {
	next     http.RoundTripper
	records  bool
	contends *sync.Once
}

func (t transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if t.records {
		return t.recorded(request)
	}
	response, err := t.next.RoundTrip(request)
	if err == nil {
		t.contends.Do(func() { tell(line{"event": "waiting"}) })
	}
	return response, err
}

func (t transport) recorded(request *http.Request) (*http.Response, error) {
	exchange := line{"event": "exchange", "method": request.Method, "path": request.URL.RequestURI()}
	if request.Body != nil {
		sent, _ := io.ReadAll(request.Body)
		request.Body = io.NopCloser(bytes.NewReader(sent))
		exchange["sent"] = json.RawMessage(sent)
	}
	response, err := t.next.RoundTrip(request)
	if err != nil {
		exchange["error"] = err.Error()
	} else {
		got, _ := io.ReadAll(response.Body)
		response.Body.Close()
		response.Body = io.NopCloser(bytes.NewReader(got))
		exchange["status"] = response.StatusCode
		exchange["got"] = json.RawMessage(got)
	}
	tell(exchange)
	return response, err
}

func main() {
	server := flag.String("server", "", "the URL of the API server")
	token := flag.String("token", "admin", "the bearer token")
	name := flag.String("name", "job", "the name of the Lease, in the namespace default")
	identity := flag.String("identity", "go", "the identity of this elector")
	lease := flag.Duration("lease", 6*time.Second, "LeaseDuration")
	deadline := flag.Duration("deadline", 4*time.Second, "RenewDeadline")
	retry := flag.Duration("retry", time.Second, "RetryPeriod")
	records := flag.Bool("record", false, "print each request with its answer")
	flag.Parse()
	quiet := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(quiet)
	quiet.Parse([]string{"-logtostderr=false", "-stderrthreshold=FATAL"})
	klog.SetOutput(io.Discard)

	config := &rest.Config{Host: *server, BearerToken: *token}
	config.TLSClientConfig.Insecure = true
	contends := &sync.Once{}
	config.WrapTransport = func(next http.RoundTripper) http.RoundTripper { return transport{next, *records, contends} }
	client, err := coordination.NewForConfig(config)
	if err != nil {
		panic(err)
	}

	go func() {
		// It does not outlive the process that has started it.
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()

	ctx, cancel := context.WithCancel(context.Background())
	var own leadership
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	go func() {
		<-signals
		own.end()
		cancel()
	}()
	// After a lost lease it contends again, as a container that is started again.
	for ctx.Err() == nil {
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta:  metav1.ObjectMeta{Name: *name, Namespace: "default"},
				Client:     client,
				LockConfig: resourcelock.ResourceLockConfig{Identity: *identity},
			},
			ReleaseOnCancel: true,
			LeaseDuration:   *lease,
			RenewDeadline:   *deadline,
			RetryPeriod:     *retry,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: own.begin,
				OnStoppedLeading: own.lose,
			},
		})
	}
}
