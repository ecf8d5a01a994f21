// Command function-markdownview is a Crossplane composition function that serves
// the Markdown of a MarkdownView as a web book.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/crossplane-contrib/function-markdownview/fn"
	"github.com/crossplane-contrib/function-markdownview/server"
)

type cli struct {
	Debug bool `help:"Log every call." short:"d"`

	Network            string        `default:"tcp"                                                      help:"Network on which to listen for calls."`
	Address            string        `default:":9443"                                                    help:"Address at which to listen for calls."`
	TLSCertsDir        string        `env:"TLS_SERVER_CERTS_DIR"                                         help:"Directory with the server's tls.crt and tls.key, and the ca.crt of clients."`
	Insecure           bool          `help:"Serve without mTLS. For development only."`
	MaxRecvMessageSize int           `default:"16"                                                       env:"FUNCTION_MARKDOWNVIEW_MAX_RECV_MESSAGE_SIZE"                                  help:"Size of the largest request, in MiB."`
	TTL                time.Duration `default:"0s"                                                       help:"How long Crossplane may cache a response before it calls again; 0 means until something changes." name:"ttl"`
	MetricsAddress     string        `default:":8080"                                                    help:"Address of the HTTP server for /metrics, /livez and /readyz; empty for none."`
}

// Run serves the function until SIGTERM or SIGINT. A second signal kills it.
func (c *cli) Run() error {
	if c.TTL < 0 {
		return fmt.Errorf("cannot serve: --ttl must not be negative: %s", c.TTL)
	}
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	context.AfterFunc(ctx, cancel)

	log := server.NewLogger(os.Stderr, c.Debug)

	return server.Run(ctx, fn.New(log, c.TTL).Respond, log, server.Options{
		Network:            c.Network,
		Address:            c.Address,
		TLSCertsDir:        c.TLSCertsDir,
		Insecure:           c.Insecure,
		MaxRecvMessageSize: c.MaxRecvMessageSize,
		MetricsAddress:     c.MetricsAddress,
	})
}

func main() {
	ctx := kong.Parse(&cli{}, kong.Description("A Crossplane composition function for MarkdownViews."))
	ctx.FatalIfErrorf(ctx.Run())
}
