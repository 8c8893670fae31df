import type { Formats } from '../format/formats.js'

/** A plan as people say it: `every 10m` instead of `every 600000 ms from 1970-01-01T00:00:00.000Z`. */
export function planText(plan: string, formats: Pick<Formats, 'duration'>): string {
  const [, period] = /^every (\d+) ms from \S+$/.exec(plan) ?? []
  return period === undefined || Number(period) % 1_000 !== 0 ? plan : `every ${formats.duration(Number(period))}`
}
