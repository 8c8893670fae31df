import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { kindOf, shownValue } from '../errors/shown-value.js'
import { durationOf } from '../settings/duration.js'
import { toKebabCase } from '../settings/key-case.js'

/**
 * Reads the options of a provider's block. Each is read by its name in code, in every form that configurations use for its
 * type.
 *
 * An option that is absent, `null` or empty is `undefined`: configurations write `""` for options without a value. An
 * invalid value throws a `LeaseConfigurationError` that names the key in kebab case, as configurations do.
 */
export class OptionValues<Name extends string = string> {
  readonly #store: string
  readonly #block: Readonly<Record<string, unknown>>

  /**
   * @param store the kind of store, for errors
   * @param block `settings.options` of the lease, whose keys are in the camel case of the code
   */
  constructor(store: string, block: Readonly<Record<string, unknown>>) {
    this.#store = store
    this.#block = block
  }

  /** A text that errors may show; a number counts as its digits. See {@link OptionValues.secret}. */
  text(name: Name): string | undefined {
    const value = this.#given(name)
    if (value === undefined || typeof value === 'string') return value
    if (typeof value === 'number') return String(value)
    throw this.#wrong(name, `a text, not ${shownValue(value)}`)
  }

  /** A secret text, such as a password: errors do not show its value. */
  secret(name: Name): string | undefined {
    const value = this.#given(name)
    if (value === undefined || typeof value === 'string') return value
    const hint = typeof value === 'object' ? '' : ': put it in quotes'
    throw this.#wrong(name, `a text, not ${kindOf(value)}${hint}`)
  }

  /**
   * A list of texts, or a single text, which is a list of one; an empty list counts as absent. No error shows what
   * stands in the list: addresses have passwords in them.
   */
  texts(name: Name): readonly string[] | undefined {
    const value = this.#given(name)
    if (value === undefined) return undefined
    const list: readonly unknown[] = Array.isArray(value) ? value : [value]
    for (const item of list) {
      if (typeof item !== 'string') throw this.#wrong(name, `a list of texts: ${kindOf(item)} is none`)
      if (item === '') throw this.#wrong(name, 'a list of texts: an empty one stands in it')
    }
    return list.length === 0 ? undefined : (list as readonly string[])
  }

  /** In milliseconds: a number is one already, a text has a unit (`12s`, `500 ms`) or says `infinite`. */
  duration(name: Name): number | undefined {
    const value = this.#given(name)
    const duration = value === undefined ? undefined : durationOf(value)
    if (value === undefined || duration !== undefined) return duration
    throw this.#wrong(name, `a duration such as 12s, 500ms or infinite, not ${shownValue(value)}`)
  }

  /** A number, also as its digits. */
  number(name: Name): number | undefined {
    const value = this.#given(name)
    const number = typeof value === 'string' ? Number(value) : value
    if (value === undefined || (typeof number === 'number' && !Number.isNaN(number)))
      return number as number | undefined
    throw this.#wrong(name, `a number, not ${shownValue(value)}`)
  }

  /** On or off, in any of HOCON's words: `on`, `yes` and `true`, `off`, `no` and `false`. */
  switch(name: Name): boolean | undefined {
    const value = this.#given(name)
    if (value === undefined) return undefined
    if (on.has(value) || off.has(value)) return on.has(value)
    throw this.#wrong(name, `on or off, not ${shownValue(value)}`)
  }

  /** One of these words. */
  choice<Word extends string>(name: Name, words: readonly [Word, ...Word[]]): Word | undefined {
    const value = this.#given(name)
    const chosen = words.find((word) => word === value)
    if (value === undefined || chosen !== undefined) return chosen
    throw this.#wrong(name, `${alternatives(words)}, not ${shownValue(value)}`)
  }

  #given(name: Name): unknown {
    const value = this.#block[name]
    return value === null || value === '' ? undefined : value
  }

  #wrong(name: Name, must: string): LeaseConfigurationError {
    return new LeaseConfigurationError(`${toKebabCase(name)} must be ${must}`, { store: this.#store })
  }
}

/**
 * The list of texts that was given in code as an option: at least one. In code a single text is no list, because the option
 * would have two types. Throws a `LeaseConfigurationError` that shows nothing of the list: addresses have passwords in them.
 */
export function checkedTexts(
  option: string,
  value: unknown,
  { example, store }: { readonly example: string; readonly store: string },
): readonly [string, ...string[]] {
  const wrong = (fault: string): LeaseConfigurationError =>
    new LeaseConfigurationError(`${option} must be a list of texts, such as ['${example}']${fault}`, { store })
  if (!Array.isArray(value)) throw wrong(`, not ${kindOf(value)}`)
  const texts = value.filter((item) => typeof item === 'string')
  const [first, ...others] = texts
  if (texts.length < value.length) {
    throw wrong(`: ${kindOf(value.find((item) => typeof item !== 'string'))} is none`)
  }
  if (first === undefined) throw wrong(': it is empty')
  return [first, ...others]
}

const on: ReadonlySet<unknown> = new Set([true, 'true', 'on', 'yes'])
const off: ReadonlySet<unknown> = new Set([false, 'false', 'off', 'no'])

function alternatives(words: readonly string[]): string {
  return words.length === 1 ? String(words[0]) : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}
