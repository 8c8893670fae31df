import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { toKebabCase } from '../settings/key-case.js'
import { OptionValues } from './option-values.js'

/** The description of an option for users. */
export interface OptionDescription {
  /** One or two sentences for users, in `reference.conf` and in the README. */
  readonly description: string
  /** The default as a configuration writes it, such as `7d`, `on` or `"leases"`; `""` or `[]` unless given. */
  readonly default?: string
  /** For an option that must be given: an example of its value, as a configuration writes it. */
  readonly example?: string
}

/** One option of a provider's block. */
export type OptionDeclaration =
  | (OptionDescription & {
      /**
       * `text`; `secret`: a text that no error shows; `texts`: a list of them; `duration`: milliseconds in code, `12s` in a
       * configuration; `number`; `switch`: `on` or `off`.
       */
      readonly type: 'text' | 'secret' | 'texts' | 'duration' | 'number' | 'switch'
    })
  | (OptionDescription & { readonly type: 'choice'; readonly words: readonly [string, ...string[]] })

export type OptionDeclarations = Readonly<Record<string, OptionDeclaration>>

/** The value of an option in code. */
export type OptionValue<D extends OptionDeclaration> = D extends { readonly type: 'choice' }
  ? D['words'][number]
  : D['type'] extends 'duration' | 'number'
    ? number
    : D['type'] extends 'switch'
      ? boolean
      : D['type'] extends 'texts'
        ? readonly string[]
        : string

/** The values that a provider reads from its block; `undefined` where an option is not given. */
export type OptionsOf<D extends OptionDeclarations> = { readonly [K in keyof D]: OptionValue<D[K]> | undefined }

/**
 * The options of a provider's block, declared once: the reader, the keys that are known, `reference.conf` and the table of
 * the README come from here.
 */
export class ProviderOptions<const D extends OptionDeclarations = OptionDeclarations> {
  /** The name of the provider, such as `redis`. */
  readonly kind: string
  readonly declarations: D

  constructor(kind: string, declarations: D) {
    this.kind = kind
    this.declarations = declarations
  }

  /** The names of the options, in the camel case of the code. */
  get keys(): readonly (keyof D & string)[] {
    return Object.keys(this.declarations)
  }

  /** For `checkOptionNames`, in a store that takes these options in code. */
  get names(): Readonly<Record<keyof D & string, true>> {
    return Object.fromEntries(this.keys.map((name) => [name, true])) as Record<keyof D & string, true>
  }

  /** Reads `settings.options`. Throws a `LeaseConfigurationError` that names a missing or invalid option, and shows no secret. */
  read(block: Readonly<Record<string, unknown>>): OptionsOf<D> {
    const values = new OptionValues(this.kind, block)
    const entries = Object.entries(this.declarations).map(([name, declaration]) => {
      const value = readOption(values, name, declaration)
      if (value !== undefined || declaration.example === undefined) return [name, value]
      throw new LeaseConfigurationError(
        `${toKebabCase(name)} must be given, such as ${toKebabCase(name)} = ${declaration.example}`,
        { store: this.kind },
      )
    })
    return Object.fromEntries(entries) as OptionsOf<D>
  }

  /** The text of `reference.conf`. */
  referenceConf(): string {
    return (
      `# The settings of @leasehold/${this.kind}, with their defaults. Override them in application.conf.\n` +
      `leasehold.${this.kind} {\n  # The package that makes these leases.\n  lease-class = "@leasehold/${this.kind}"\n` +
      `${this.settings()}}\n`
    )
  }

  /** The options as a configuration has them, with their defaults, each below its description. */
  settings(): string {
    const options = Object.entries(this.declarations).map(([name, declaration]) => {
      const comment = wrapped(declaration.description, 110).map((line) => `  # ${line}\n`)
      const { example, default: value = declaration.type === 'texts' ? '[]' : '""' } = declaration
      const setting = example === undefined ? `${toKebabCase(name)} = ${value}` : `# ${toKebabCase(name)} = ${example}`
      return `\n${comment.join('')}  ${setting}\n`
    })
    return options.join('')
  }

  /** The table of the README. */
  table(): string {
    const rows = Object.entries(this.declarations).map(([name, declaration]) => {
      const { default: value, example } = declaration
      const written = value === undefined ? example && 'required' : `\`${value.replaceAll('"', '')}\``
      return `| \`${name}\` | ${written ?? ''} | ${declaration.description.replaceAll('|', '\\|')} |\n`
    })
    return `| option | default | |\n|---|---|---|\n${rows.join('')}`
  }
}

function readOption(values: OptionValues, name: string, declaration: OptionDeclaration): unknown {
  return declaration.type === 'choice' ? values.choice(name, declaration.words) : values[declaration.type](name)
}

/** The lines of a text, broken between words. */
export function wrapped(text: string, width: number): string[] {
  return (text.match(new RegExp(`.{1,${width}}(?: |$)`, 'gu')) ?? []).map((line) => line.trimEnd())
}
