import { readFileSync } from 'node:fs'

/** The text of a file that may not be there. */
export function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
