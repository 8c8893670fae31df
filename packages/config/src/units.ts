/** The factor of each unit name, relative to the default unit (milliseconds or bytes). */
type Units = ReadonlyMap<string, number>

/** The units of HOCON.md, "Duration format". */
const durations: Units = unitsOf([
  [1e-6, 'ns nano nanos nanosecond nanoseconds'],
  [1e-3, 'us micro micros microsecond microseconds'],
  [1, 'ms milli millis millisecond milliseconds'],
  [1_000, 's second seconds'],
  [60_000, 'm minute minutes'],
  [3_600_000, 'h hour hours'],
  [86_400_000, 'd day days'],
])

/** The units of HOCON.md, "Size in bytes format". */
const sizes: Units = unitsOf([
  [1, 'B b byte bytes'],
  ...['kB kilo', 'MB mega', 'GB giga', 'TB tera', 'PB peta', 'EB exa', 'ZB zetta', 'YB yotta'].map(
    (names, power): [number, string] => {
      const [symbol, prefix] = names.split(' ')
      return [1_000 ** (power + 1), `${symbol} ${prefix}byte ${prefix}bytes`]
    },
  ),
  ...['K kibi', 'M mebi', 'G gibi', 'T tebi', 'P pebi', 'E exbi', 'Z zebi', 'Y yobi'].map(
    (names, power): [number, string] => {
      const [letter = '', prefix] = names.split(' ')
      const units = [letter, letter.toLowerCase(), `${letter}i`, `${letter}iB`, `${prefix}byte`, `${prefix}bytes`]
      return [1_024 ** (power + 1), units.join(' ')]
    },
  ),
])

/** A number before a unit. */
const AMOUNT = /^([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)$/

/** Converts a number of milliseconds, or a string with or without a unit. `undefined` if invalid or too large. */
export function toMilliseconds(value: unknown): number | undefined {
  return amountOf(value, durations)
}

/** Converts a number of bytes, or a string with or without a unit, and rounds down. `undefined` if invalid or too large. */
export function toBytes(value: unknown): number | undefined {
  const bytes = amountOf(value, sizes)
  return bytes === undefined || bytes < 0 ? undefined : Math.floor(bytes)
}

function amountOf(value: unknown, units: Units): number | undefined {
  if (typeof value === 'number') return Number.isNaN(value) ? undefined : value
  if (typeof value !== 'string') return undefined
  const trimmed = value.trim()
  const unit = /\p{L}*$/u.exec(trimmed)?.[0] ?? ''
  const [, amount] = AMOUNT.exec(trimmed.slice(0, trimmed.length - unit.length).trim()) ?? []
  const factor = unit === '' ? 1 : units.get(unit)
  const product = amount === undefined || factor === undefined ? Number.NaN : Number(amount) * factor
  return Number.isFinite(product) ? product : undefined
}

function unitsOf(table: readonly (readonly [number, string])[]): Units {
  return new Map(table.flatMap(([factor, names]) => names.split(' ').map((name) => [name, factor] as const)))
}
