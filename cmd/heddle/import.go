package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heddle-sim/heddle/internal/scratch"
	"github.com/heddle-sim/heddle/sheets"
)

func importCmd() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "import GPGPUSIM.CONFIG",
		Short: "Turn a gpgpusim.config into a machine sheet",
		Long: `Read a configuration of GPGPU-Sim (3.x, 4.x or UVMSmart) and write a machine sheet.
It lists the options that are approximated, not modelled, or without meaning here.`,
		Example: "  heddle import gpgpusim.config -o mine.yaml && heddle run apps/micro/triad --machine ./mine.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			im, err := sheets.ImportGPGPUSim(args[0])
			if err != nil {
				return err
			}
			im.Machine.Name = importedName(args[0], out)
			text := sheets.Write(im.Machine, im.Provenance)
			if out == "" {
				if _, err := cmd.OutOrStdout().Write(text); err != nil {
					return err
				}
				return listImport(cmd.ErrOrStderr(), im)
			}
			if err := scratch.WriteWhole(out, text); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: machine %s, %d SMs, %d channels\n", out, im.Machine.Name,
				im.Machine.SM.Count, im.Machine.DRAM.Channels)
			return listImport(cmd.OutOrStdout(), im)
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "",
		"write the sheet to FILE (default: standard output, with the lists on standard error)")
	return cmd
}

// importedName names a machine after the file it is written to, else after the one it was
// read from; as all configurations are called gpgpusim.config, after its folder then.
func importedName(from, to string) string {
	file := from
	if to != "" {
		file = to
	}
	name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	if path, err := filepath.Abs(file); err == nil && name == "gpgpusim" {
		name = filepath.Base(filepath.Dir(path))
	}
	return name
}

// listImport lists the settings that were changed or left out.
func listImport(w io.Writer, im *sheets.Imported) error {
	groups := append([]sheets.Group{{Title: "approximated", Options: im.Warnings}}, im.Apart...)
	groups = append(groups,
		sheets.Group{Title: "not modelled", Options: im.Unmodelled},
		sheets.Group{Title: "without a meaning here", Options: im.Ignored})
	for _, part := range groups {
		if len(part.Options) == 0 {
			continue
		}
		if _, err := fmt.Fprintf(w, "%s:\n", part.Title); err != nil {
			return err
		}
		for _, o := range part.Options {
			if _, err := fmt.Fprintf(w, "  %s\n", o); err != nil {
				return err
			}
		}
	}
	return nil
}
