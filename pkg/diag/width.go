package diag

import "unicode"

// wide holds the characters that take two columns on a terminal: those whose
// East Asian Width is W or F (Unicode Standard Annex #11).
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x115F, Stride: 1}, {Lo: 0x231A, Hi: 0x231B, Stride: 1}, {Lo: 0x2329, Hi: 0x232A, Stride: 1},
		{Lo: 0x23E9, Hi: 0x23EC, Stride: 1}, {Lo: 0x23F0, Hi: 0x23F0, Stride: 1}, {Lo: 0x23F3, Hi: 0x23F3, Stride: 1},
		{Lo: 0x25FD, Hi: 0x25FE, Stride: 1}, {Lo: 0x2614, Hi: 0x2615, Stride: 1}, {Lo: 0x2648, Hi: 0x2653, Stride: 1},
		{Lo: 0x267F, Hi: 0x267F, Stride: 1}, {Lo: 0x2693, Hi: 0x2693, Stride: 1}, {Lo: 0x26A1, Hi: 0x26A1, Stride: 1},
		{Lo: 0x26AA, Hi: 0x26AB, Stride: 1}, {Lo: 0x26BD, Hi: 0x26BE, Stride: 1}, {Lo: 0x26C4, Hi: 0x26C5, Stride: 1},
		{Lo: 0x26CE, Hi: 0x26CE, Stride: 1}, {Lo: 0x26D4, Hi: 0x26D4, Stride: 1}, {Lo: 0x26EA, Hi: 0x26EA, Stride: 1},
		{Lo: 0x26F2, Hi: 0x26F3, Stride: 1}, {Lo: 0x26F5, Hi: 0x26F5, Stride: 1}, {Lo: 0x26FA, Hi: 0x26FA, Stride: 1},
		{Lo: 0x26FD, Hi: 0x26FD, Stride: 1}, {Lo: 0x2705, Hi: 0x2705, Stride: 1}, {Lo: 0x270A, Hi: 0x270B, Stride: 1},
		{Lo: 0x2728, Hi: 0x2728, Stride: 1}, {Lo: 0x274C, Hi: 0x274E, Stride: 2}, {Lo: 0x2753, Hi: 0x2755, Stride: 1},
		{Lo: 0x2757, Hi: 0x2757, Stride: 1}, {Lo: 0x2795, Hi: 0x2797, Stride: 1}, {Lo: 0x27B0, Hi: 0x27BF, Stride: 15},
		{Lo: 0x2B1B, Hi: 0x2B1C, Stride: 1}, {Lo: 0x2B50, Hi: 0x2B55, Stride: 5}, {Lo: 0x2E80, Hi: 0x303E, Stride: 1},
		{Lo: 0x3041, Hi: 0x4DBF, Stride: 1}, {Lo: 0x4E00, Hi: 0xA4CF, Stride: 1}, {Lo: 0xA960, Hi: 0xA97C, Stride: 1},
		{Lo: 0xAC00, Hi: 0xD7A3, Stride: 1}, {Lo: 0xF900, Hi: 0xFAFF, Stride: 1}, {Lo: 0xFE10, Hi: 0xFE19, Stride: 1},
		{Lo: 0xFE30, Hi: 0xFE6F, Stride: 1}, {Lo: 0xFF01, Hi: 0xFF60, Stride: 1}, {Lo: 0xFFE0, Hi: 0xFFE6, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x16FE0, Hi: 0x18AFF, Stride: 1}, {Lo: 0x1AFF0, Hi: 0x1B2FF, Stride: 1}, {Lo: 0x1F004, Hi: 0x1F004, Stride: 1},
		{Lo: 0x1F0CF, Hi: 0x1F0CF, Stride: 1}, {Lo: 0x1F18E, Hi: 0x1F18E, Stride: 1}, {Lo: 0x1F191, Hi: 0x1F19A, Stride: 1},
		{Lo: 0x1F200, Hi: 0x1F265, Stride: 1}, {Lo: 0x1F300, Hi: 0x1F320, Stride: 1}, {Lo: 0x1F32D, Hi: 0x1F335, Stride: 1},
		{Lo: 0x1F337, Hi: 0x1F37C, Stride: 1}, {Lo: 0x1F37E, Hi: 0x1F393, Stride: 1}, {Lo: 0x1F3A0, Hi: 0x1F3CA, Stride: 1},
		{Lo: 0x1F3CF, Hi: 0x1F3D3, Stride: 1}, {Lo: 0x1F3E0, Hi: 0x1F3F0, Stride: 1}, {Lo: 0x1F3F4, Hi: 0x1F3F4, Stride: 1},
		{Lo: 0x1F3F8, Hi: 0x1F43E, Stride: 1}, {Lo: 0x1F440, Hi: 0x1F440, Stride: 1}, {Lo: 0x1F442, Hi: 0x1F4FC, Stride: 1},
		{Lo: 0x1F4FF, Hi: 0x1F53D, Stride: 1}, {Lo: 0x1F54B, Hi: 0x1F567, Stride: 1}, {Lo: 0x1F57A, Hi: 0x1F57A, Stride: 1},
		{Lo: 0x1F595, Hi: 0x1F5A4, Stride: 1}, {Lo: 0x1F5FB, Hi: 0x1F64F, Stride: 1}, {Lo: 0x1F680, Hi: 0x1F6C5, Stride: 1},
		{Lo: 0x1F6CC, Hi: 0x1F6D7, Stride: 1}, {Lo: 0x1F6DC, Hi: 0x1F6DF, Stride: 1}, {Lo: 0x1F6EB, Hi: 0x1F6FC, Stride: 1},
		{Lo: 0x1F7E0, Hi: 0x1F7F0, Stride: 1}, {Lo: 0x1F90C, Hi: 0x1F9FF, Stride: 1}, {Lo: 0x1FA70, Hi: 0x1FAFF, Stride: 1},
		{Lo: 0x20000, Hi: 0x3FFFD, Stride: 1},
	},
}

// columns is how many columns of a terminal a printed character takes.
func columns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf), r >= 0x1160 && r <= 0x11FF:
		return 0
	case unicode.Is(wide, r):
		return 2
	default:
		return 1
	}
}

// printable returns what to print for a character of a file, so that no file
// can send commands to the terminal or turn the order of what is read around.
func printable(r rune) rune {
	switch {
	case r < 0x20:
		return 0x2400 + r // Control Pictures
	case r == 0x7F:
		return 0x2421
	case r >= 0x80 && r < 0xA0, r == 0x2028, r == 0x2029,
		r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069, r == 0xFEFF:
		return 0xFFFD
	default:
		return r
	}
}
