const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const

/** A duration in milliseconds for people, in the two largest units: `850ms`, `12.5s`, `3m 20s`, `2d 4h`. */
export function durationText(duration: number): string {
  if (duration === Number.POSITIVE_INFINITY) return 'no end'
  if (duration < 1_000) return `${Math.round(duration)}ms`
  if (duration < 59_950) return `${Math.round(duration / 100) / 10}s`
  const rounded = Math.round(duration / 1_000) * 1_000
  const index = units.findIndex(([, length]) => rounded >= length)
  const [[large, length] = ['s', 1_000], next] = units.slice(index)
  const rest = next === undefined ? 0 : Math.floor((rounded % length) / next[1])
  return `${Math.floor(rounded / length)}${large}${rest === 0 || next === undefined ? '' : ` ${rest}${next[0]}`}`
}

/** A duration as a configuration writes it, without rounding: `500ms`, `12s`, `infinite`. */
export function durationSetting(duration: number): string {
  if (duration === Number.POSITIVE_INFINITY) return 'infinite'
  return duration % 1_000 === 0 ? `${duration / 1_000}s` : `${duration}ms`
}

/** An instant, in milliseconds since 1970, in the time zone of this process: `2026-03-01 14:05:09`. */
export function instantText(instant: number): string {
  const date = new Date(instant)
  const two = (number: number): string => String(number).padStart(2, '0')
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
}
