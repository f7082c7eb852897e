package cassette

import "path/filepath"

// Relative returns the path of a file as one reads it from the folder of another one, with
// slashes.
func Relative(from, path string) string {
	folder, err := filepath.Abs(filepath.Dir(from))
	if err == nil {
		if full, err := filepath.Abs(path); err == nil {
			if relative, err := filepath.Rel(folder, full); err == nil {
				return filepath.ToSlash(relative)
			}
		}
	}
	return filepath.ToSlash(path)
}
