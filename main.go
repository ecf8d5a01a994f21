// Command function-markdownview serves the composition function.
package main

import (
	"time"

	"github.com/alecthomas/kong"
	"github.com/crossplane/function-sdk-go"

	"github.com/crossplane-contrib/function-markdownview/fn"
)

type cli struct {
	Debug              bool          `help:"Log more." short:"d"`
	Network            string        `default:"tcp" help:"Network to listen on."`
	Address            string        `default:":9443" help:"Address to listen on."`
	TLSCertsDir        string        `env:"TLS_SERVER_CERTS_DIR" help:"Directory with tls.crt, tls.key and ca.crt."`
	Insecure           bool          `help:"Serve without mTLS."`
	MaxRecvMessageSize int           `default:"16" env:"FUNCTION_MARKDOWNVIEW_MAX_RECV_MESSAGE_SIZE" help:"Largest request in MiB."`
	TTL                time.Duration `default:"0s" help:"How long an answer may stand."`
	MetricsAddress     string        `default:":8080" help:"Metrics address."`
}

func (c *cli) Run() error {
	log, err := function.NewLogger(c.Debug)
	if err != nil {
		return err
	}
	return function.Serve(fn.New(log, c.TTL),
		function.Listen(c.Network, c.Address),
		function.MTLSCertificates(c.TLSCertsDir),
		function.Insecure(c.Insecure),
		function.MaxRecvMessageSize(c.MaxRecvMessageSize*1024*1024),
		function.WithMetricsServer(c.MetricsAddress))
}

func main() {
	ctx := kong.Parse(&cli{})
	ctx.FatalIfErrorf(ctx.Run())
}
