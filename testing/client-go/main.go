// A Go elector for the tests of @leasehold/kubernetes: client-go's leader election on one Lease, as a process.
// It prints a line of JSON for each change, and for each request with its answer.
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
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

var output sync.Mutex

// pointerTo is for the one system call of this program.
func pointerTo(time *syscall.Timespec) uintptr { return uintptr(unsafe.Pointer(time)) }

func tell(line map[string]interface{}) {
	var now syscall.Timespec
	// CLOCK_MONOTONIC, which all processes of the machine share.
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, 1, pointerTo(&now), 0)
	line["at"] = float64(now.Nano()) / 1e6
	output.Lock()
	defer output.Unlock()
	json.NewEncoder(os.Stdout).Encode(line)
}

// recorder prints each exchange, and holds back a release: a PUT with an empty holder.
type recorder struct {
	next  http.RoundTripper
	delay time.Duration
}

func (r recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	var sent []byte
	if request.Body != nil {
		sent, _ = io.ReadAll(request.Body)
		request.Body = io.NopCloser(bytes.NewReader(sent))
	}
	if request.Method == http.MethodPut && strings.Contains(string(sent), `"holderIdentity":""`) {
		tell(map[string]interface{}{"event": "releasing"})
		time.Sleep(r.delay)
	}
	response, err := r.next.RoundTrip(request)
	line := map[string]interface{}{"event": "exchange", "method": request.Method, "path": request.URL.RequestURI()}
	line["contentType"] = request.Header.Get("Content-Type")
	line["accept"] = request.Header.Get("Accept")
	if len(sent) > 0 {
		line["sent"] = json.RawMessage(sent)
	}
	if err != nil {
		line["error"] = err.Error()
	} else {
		got, _ := io.ReadAll(response.Body)
		response.Body.Close()
		response.Body = io.NopCloser(bytes.NewReader(got))
		line["status"] = response.StatusCode
		line["got"] = json.RawMessage(got)
	}
	tell(line)
	return response, err
}

func main() {
	server := flag.String("server", "", "the URL of the API server")
	token := flag.String("token", "admin", "the bearer token")
	name := flag.String("name", "job", "the name of the Lease")
	identity := flag.String("identity", "go", "the identity of this elector")
	lease := flag.Duration("lease", 6*time.Second, "LeaseDuration")
	deadline := flag.Duration("deadline", 4*time.Second, "RenewDeadline")
	retry := flag.Duration("retry", time.Second, "RetryPeriod")
	delay := flag.Duration("release-delay", 0, "how long the release is held back")
	flag.Parse()

	config := &rest.Config{Host: *server, BearerToken: *token}
	config.TLSClientConfig.Insecure = true
	config.WrapTransport = func(next http.RoundTripper) http.RoundTripper { return recorder{next, *delay} }
	client, err := coordination.NewForConfig(config)
	if err != nil {
		panic(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
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
			OnStartedLeading: func(context.Context) { tell(map[string]interface{}{"event": "started"}) },
			OnStoppedLeading: func() { tell(map[string]interface{}{"event": "stopped"}) },
			OnNewLeader:      func(leader string) { tell(map[string]interface{}{"event": "leader", "leader": leader}) },
		},
	})
}
