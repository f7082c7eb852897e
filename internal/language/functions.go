package language

// function describes a function of expressions.
type function struct{ name, call, doc string }

// functions are all that expressions can call, by name.
var functions = []function{
	{"abs", "$abs(number)", "The absolute value of a number"},
	{"append", "$append(array1, array2)", "The elements of both arrays"},
	{"assert", "$assert(condition, message)", "Fails with the message if the condition is false"},
	{"average", "$average(array)", "The mean of numbers"},
	{"base64decode", "$base64decode(string)", "The text that is written in base64"},
	{"base64encode", "$base64encode(string)", "The text in base64"},
	{"boolean", "$boolean(value)", "True unless the value is empty, 0, null or nothing"},
	{"ceil", "$ceil(number)", "The number, rounded up"},
	{"clone", "$clone(value)", "A copy of the value"},
	{"contains", "$contains(string, pattern)", "Whether a text contains another one, or matches a regular expression"},
	{"count", "$count(array)", "How many elements an array has"},
	{"decodeUrl", "$decodeUrl(string)", "The text of an encoded URL"},
	{"decodeUrlComponent", "$decodeUrlComponent(string)", "The text of an encoded part of a URL"},
	{"distinct", "$distinct(array)", "The elements, each once"},
	{"each", "$each(object, function($value, $key))", "What the function returns for each member of an object"},
	{"encodeUrl", "$encodeUrl(string)", "A URL, encoded"},
	{"encodeUrlComponent", "$encodeUrlComponent(string)", "A part of a URL, encoded"},
	{"error", "$error(message)", "Fails with the message"},
	{"eval", "$eval(string[, context])", "Evaluates a text as an expression"},
	{"executionCount", "$executionCount(id)", "How often the node with this id has run"},
	{"exists", "$exists(value)", "Whether there is a value"},
	{"filter", "$filter(array, function($value, $index, $array))", "The elements for which the function returns true"},
	{"floor", "$floor(number)", "The number, rounded down"},
	{"formatBase", "$formatBase(number[, radix])", "The number in base 2 to 36"},
	{"formatInteger", "$formatInteger(number, picture)", "A whole number by a picture such as 'w', 'I' or '000'"},
	{"formatNumber", "$formatNumber(number, picture[, options])", "A number by a picture such as '#,##0.00'"},
	{"fromMillis", "$fromMillis(number[, picture[, timezone]])", "The time that is so many milliseconds after 1970, as text"},
	{"join", "$join(array[, separator])", "Texts, joined to one"},
	{"keys", "$keys(object)", "The names of the members of an object"},
	{"length", "$length(string)", "How many characters a text has"},
	{"lookup", "$lookup(object, key)", "The member of an object with this name"},
	{"lowercase", "$lowercase(string)", "The text in small letters"},
	{"map", "$map(array, function($value, $index, $array))", "What the function returns for each element"},
	{"match", "$match(string, pattern[, limit])", "The places at which a regular expression matches"},
	{"max", "$max(array)", "The largest number"},
	{"merge", "$merge(array)", "One object with the members of all"},
	{"millis", "$millis()", "The time of the evaluation in milliseconds since 1970"},
	{"min", "$min(array)", "The smallest number"},
	{"nodeExecution", "$nodeExecution(id, index)", "The output of one execution of a node: 0 is the first, -1 the latest"},
	{"nodeExecutions", "$nodeExecutions(id)", "The outputs of all executions of a node, as an array"},
	{"not", "$not(value)", "True if the value counts as false"},
	{"now", "$now([picture[, timezone]])", "The time of the evaluation, as text"},
	{"number", "$number(value)", "The value as a number"},
	{"pad", "$pad(string, width[, char])", "The text, filled up to a width; on the left if that is negative"},
	{"parseInteger", "$parseInteger(string, picture)", "The whole number that is written by a picture"},
	{"power", "$power(base, exponent)", "A number raised to a power"},
	{"previousNode", "$previousNode([n])", "The output of the node that ran just before this one, or of n steps before"},
	{"random", "$random()", "A random number from 0 to less than 1"},
	{"reduce", "$reduce(array, function($accumulator, $value)[, init])", "One value, made of all elements"},
	{"replace", "$replace(string, pattern, replacement[, limit])", "The text with what matches replaced"},
	{"reverse", "$reverse(array)", "The elements in reverse order"},
	{"round", "$round(number[, precision])", "The number, rounded half to even"},
	{"shuffle", "$shuffle(array)", "The elements in random order"},
	{"sift", "$sift(object, function($value, $key))", "The members of an object for which the function returns true"},
	{"single", "$single(array[, function])", "The only element, or the only one for which the function returns true"},
	{"sort", "$sort(array[, function($left, $right)])", "The elements in order; the function returns true to exchange two of them"},
	{"split", "$split(string, separator[, limit])", "The parts of a text between separators"},
	{"spread", "$spread(object)", "An array with an object for each member"},
	{"sqrt", "$sqrt(number)", "The square root"},
	{"string", "$string(value[, prettify])", "The value as text; JSON for arrays and objects"},
	{"substring", "$substring(string, start[, length])", "A part of a text; a negative start counts from the end"},
	{"substringAfter", "$substringAfter(string, chars)", "The text behind the first place of another one"},
	{"substringBefore", "$substringBefore(string, chars)", "The text before the first place of another one"},
	{"sum", "$sum(array)", "The sum of numbers"},
	{"toMillis", "$toMillis(timestamp[, picture])", "A time as milliseconds since 1970"},
	{"trim", "$trim(string)", "The text with white space at both ends removed and elsewhere made one space"},
	{"type", "$type(value)", "The type of the value, as text"},
	{"uppercase", "$uppercase(string)", "The text in capital letters"},
	{"zip", "$zip(array1, …)", "An array of arrays: the first elements of all, the second ones, and so on"},
}

func functionOf(name string) *function {
	for i := range functions {
		if functions[i].name == name {
			return &functions[i]
		}
	}
	return nil
}
