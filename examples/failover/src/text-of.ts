import { readFileSync } from 'node:fs'

/** Reads a file. Returns an empty string if it does not exist. */
export function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
