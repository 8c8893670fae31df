import { ConfigSyntaxError } from './config-error.js'
import { type Field, type Origin, stringAt } from './syntax-tree.js'

const escapes: ReadonlyMap<string, string> = new Map(Object.entries({ t: '\t', n: '\n', r: '\r', f: '\f' }))

/**
 * Parses Java properties: one key and one string per line, with dots between the elements of the key's path. If a key
 * has both a string and keys below it, the keys below it win, in any order.
 */
export function parseProperties(text: string, source: string): Field[] {
  const fields = [...logicalLines(text)].map(({ content, line }): Field => {
    const origin = { source, line, column: 1 }
    const { key, value } = split(content)
    const path = unescapeText(key, origin).split('.')
    return { kind: 'field', path, value: stringAt(unescapeText(value, origin), origin) }
  })
  // Sorted by depth, so that keys below a parent replace its string. The order is otherwise kept.
  return fields.sort((one, other) => one.path.length - other.path.length)
}

/** Joins each line that ends with a backslash to the next line. */
function* logicalLines(text: string): Generator<{ content: string; line: number }> {
  let content = ''
  let begun = 0
  for (const [index, physical] of text.split(/\r\n|\n|\r/).entries()) {
    const trimmed = physical.replace(/^[ \t\f]+/, '')
    if (begun === 0) {
      if (trimmed === '' || trimmed.startsWith('#') || trimmed.startsWith('!')) continue
      begun = index + 1
    }
    const [slashes = ''] = /\\*$/.exec(trimmed) ?? []
    if (slashes.length % 2 === 1) {
      content += trimmed.slice(0, -1)
      continue
    }
    yield { content: content + trimmed, line: begun }
    content = ''
    begun = 0
  }
  if (begun > 0) yield { content, line: begun }
}

/** The key ends at the first `=`, `:` or white space that is not escaped. */
function split(content: string): { key: string; value: string } {
  let end = 0
  while (end < content.length && !/[=: \t\f]/.test(content.charAt(end))) end += content.charAt(end) === '\\' ? 2 : 1
  const [separator = ''] = /^[ \t\f]*[=:]?[ \t\f]*/.exec(content.slice(end)) ?? []
  return { key: content.slice(0, end), value: content.slice(end + separator.length) }
}

function unescapeText(text: string, origin: Origin): string {
  return text.replaceAll(/\\(u(.{0,4})|[\s\S]?)/g, (_, letter: string, digits?: string) => {
    if (digits === undefined) return escapes.get(letter) ?? letter
    if (/^[\da-fA-F]{4}$/.test(digits)) return String.fromCharCode(Number.parseInt(digits, 16))
    throw new ConfigSyntaxError('expected four hexadecimal digits after \\u', origin)
  })
}
