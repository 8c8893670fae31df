import { type DurationPart, largestOf, partsOf } from './durations.js'

interface DurationFormat {
  format(duration: Readonly<Record<string, number>>): string
}
type DurationFormatConstructor = new (locale: string | undefined, options: { style: string }) => DurationFormat
type Style = 'narrow' | 'long'

/** Numbers, times and durations in the reader's locale. */
export class Formats {
  readonly #locale: string | undefined
  readonly #number: Intl.NumberFormat
  readonly #time: Intl.DateTimeFormat
  readonly #minutes: Intl.DateTimeFormat
  readonly #dateAndTime: Intl.DateTimeFormat
  readonly #day: Intl.DateTimeFormat
  readonly #relative: Intl.RelativeTimeFormat
  readonly #seconds: Intl.NumberFormat
  readonly #durations = new Map<Style, (parts: readonly DurationPart[]) => string>()

  constructor(locale?: string, timeZone?: string) {
    const zone = timeZone === undefined ? {} : { timeZone }
    this.#locale = locale
    this.#number = new Intl.NumberFormat(locale)
    this.#time = new Intl.DateTimeFormat(locale, { ...zone, hour: '2-digit', minute: '2-digit', second: '2-digit' })
    this.#minutes = new Intl.DateTimeFormat(locale, { ...zone, hour: '2-digit', minute: '2-digit' })
    this.#dateAndTime = new Intl.DateTimeFormat(locale, { ...zone, dateStyle: 'medium', timeStyle: 'medium' })
    this.#day = new Intl.DateTimeFormat('en-CA', { ...zone, year: 'numeric', month: '2-digit', day: '2-digit' })
    this.#seconds = new Intl.NumberFormat(locale, {
      style: 'unit',
      unit: 'second',
      unitDisplay: 'narrow',
      maximumFractionDigits: 1,
    })
    this.#relative = new Intl.RelativeTimeFormat(locale, { numeric: 'always', style: 'long' })
  }

  number(value: number): string {
    return this.#number.format(value)
  }

  /** Such as `2h 5m`, at most two units. */
  duration(duration: number): string {
    return this.#duration('narrow', partsOf(duration))
  }

  /** As `duration`, but with tenths where it is less than ten seconds: for settings and measures, which nobody counts down. */
  exactDuration(duration: number): string {
    return duration < 10_000 ? this.#seconds.format(duration / 1_000) : this.duration(duration)
  }

  /** Such as `2 hours, 5 minutes`, for those who listen. */
  spokenDuration(duration: number): string {
    return this.#duration('long', partsOf(duration))
  }

  /** Such as `3 minutes ago` or `in 3 minutes`. */
  relative(instant: number, now: number): string {
    const [unit, count] = largestOf(instant - now)
    return this.#relative.format(instant < now ? -count : count, unit)
  }

  /** Hours, minutes and seconds; with the date, if it is not today. */
  time(instant: number, now: number): string {
    return this.#isSameDay(instant, now) ? this.#time.format(instant) : this.#dateAndTime.format(instant)
  }

  /** Hours and minutes, for axes; with the date, if it is not today. */
  minutes(instant: number, now: number): string {
    return this.#isSameDay(instant, now) ? this.#minutes.format(instant) : this.#dateAndTime.format(instant)
  }

  dateAndTime(instant: number): string {
    return this.#dateAndTime.format(instant)
  }

  #isSameDay(a: number, b: number): boolean {
    return this.#day.format(a) === this.#day.format(b)
  }

  #duration(style: Style, parts: readonly DurationPart[]): string {
    const format = this.#durations.get(style) ?? durationFormat(this.#locale, style)
    this.#durations.set(style, format)
    return format(parts)
  }
}

function durationFormat(locale: string | undefined, style: Style): (parts: readonly DurationPart[]) => string {
  const { DurationFormat } = Intl as { DurationFormat?: DurationFormatConstructor }
  const inUnits = unitFormat(locale, style)
  if (DurationFormat === undefined) return inUnits
  const format = new DurationFormat(locale, { style })
  // It writes nothing at all for a duration of zero.
  return (parts) =>
    parts.every(([, count]) => count === 0)
      ? inUnits(parts)
      : format.format(Object.fromEntries(parts.map(([unit, count]) => [`${unit}s`, count])))
}

/** For browsers without `Intl.DurationFormat`. */
function unitFormat(locale: string | undefined, unitDisplay: Style): (parts: readonly DurationPart[]) => string {
  const separator = unitDisplay === 'long' ? ', ' : ' '
  return (parts) =>
    parts
      .map(([unit, count]) => new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay }).format(count))
      .join(separator)
}
