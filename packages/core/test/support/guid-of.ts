import { createHash } from 'node:crypto'

/** The same GUID for the same label. */
export function guidOf(label: string): string {
  const digits = createHash('sha256').update(label).digest('hex')
  return [0, 8, 12, 16, 20].map((start, place, all) => digits.slice(start, all[place + 1] ?? 32)).join('-')
}
