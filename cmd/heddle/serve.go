package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/serve"
)

func serveCmd() *cobra.Command {
	var listen, cache, token string
	cmd := &cobra.Command{
		Use:   "serve [DIR]...",
		Short: "Show results and running simulations in a browser",
		Long: `Show the result store and result directories in a browser, also while runs, sweeps and
studies go on: what runs and what waits, speed and time left, failures with their reason,
the page of each run, and comparisons of runs. A folder may hold result directories, and
figures of studies with their claims, in sub-folders. A search finds words, or a word in a
field (machine:ugpu app:pvc policy:smqos dir:two is:shared); -word leaves out matches.

Only this computer can connect, unless --listen says otherwise; then a token is
required. The command writes nothing.`,
		Example: `  heddle serve
  heddle serve results --listen 0.0.0.0:7077
  heddle serve paper                # figures and verdicts of the studies`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return serveResults(cmd, args, listen, cache, token)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&listen, "listen", "127.0.0.1:7077", "address and port to listen on (port 0: any free port)")
	fl.StringVar(&cache, "cache", "", "the result store (default: the user's cache directory)")
	fl.StringVar(&token, "token", "", "token that a browser must give (default, where others can connect: a new one "+
		"each time)")
	return cmd
}

// reached is the address at which others find a listener.
func reached(a net.Addr) string {
	tcp, ok := a.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return a.String()
	}
	name, err := os.Hostname()
	if err != nil {
		return a.String()
	}
	return net.JoinHostPort(name, strconv.Itoa(tcp.Port))
}

func serveResults(cmd *cobra.Command, roots []string, listen, cache, token string) error {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("--listen %s: %w; write an address and a port, as in 127.0.0.1:7077", listen, err)
	}
	for _, r := range roots {
		if st, err := os.Stat(r); err != nil {
			return missing(r, err)
		} else if !st.IsDir() {
			return fmt.Errorf("%s is no folder", r)
		}
	}
	if cache == "" {
		if cache, err = lab.DefaultDir(); err != nil {
			return err
		}
	} else if _, err := os.Stat(cache); err != nil {
		return missing(cache, err)
	}
	ip := net.ParseIP(host)
	if own := host == "localhost" || ip != nil && ip.IsLoopback(); !own && token == "" {
		token = rand.Text()
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("--listen %s: %w", listen, err)
	}
	s, err := serve.New(cmd.Context(), serve.Options{Store: cache, Roots: roots, Token: token})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	at := "http://" + reached(l.Addr()) + "/"
	if token != "" {
		at += "?token=" + token
	}
	fmt.Fprintln(cmd.OutOrStdout(), at)
	server := &http.Server{
		Handler: s, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		BaseContext: func(net.Listener) context.Context { return cmd.Context() },
	}
	stopped := context.AfterFunc(cmd.Context(), func() { _ = server.Close() }) // streams never end by themselves
	defer stopped()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return &status{exitInternal, err}
	}
	return nil
}
