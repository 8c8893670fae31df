import type { CreateLeaseOptions } from '@leasehold/core'
import type { Terminal } from './terminal.js'

/** An option of a command. */
export type OptionDeclaration = {
  /** For `--help`, the man page and the completions. One sentence without a full stop. */
  readonly description: string
  /** A single letter. */
  readonly short?: string
  /** The values that the completions of the shells offer. */
  readonly completes?: 'file' | 'store'
  /** The option of a lease that it sets, in `run`. */
  readonly lease?: keyof CreateLeaseOptions
  /** Whether `--help` has only its name: the man page explains it. */
  readonly isRare?: boolean
} & (
  | { readonly type: 'switch' }
  /** Milliseconds in code, `10s` on the command line. */
  | { readonly type: 'duration' }
  | {
      /** `count`: a positive whole number. `number`: 0 or more. */
      readonly type: 'text' | 'number' | 'count'
      /** The name of the value in the help, such as `FILE`. */
      readonly value: string
    }
  | { readonly type: 'choice'; readonly words: readonly [string, ...string[]] }
)

export type OptionDeclarations = Readonly<Record<string, OptionDeclaration>>

type ValueOf<D extends OptionDeclaration> = D extends { readonly type: 'choice' }
  ? D['words'][number]
  : D['type'] extends 'switch'
    ? boolean
    : D['type'] extends 'text'
      ? string
      : number

/** The values of options, by their names on the command line; `undefined` where one is not given. */
export type OptionValues<D extends OptionDeclarations> = { readonly [K in keyof D]: ValueOf<D[K]> | undefined }

/** The value of an option, as the help shows it; `undefined` for a switch. */
export function valueShown(option: OptionDeclaration): string | undefined {
  if (option.type === 'switch') return undefined
  if (option.type === 'duration') return 'DURATION'
  return option.type === 'choice' ? option.words.join('|') : option.value
}

interface OperandDeclaration {
  /** As in the help: `NAME`. */
  readonly name: string
  readonly description: string
  /** Whether it may be left out. */
  readonly optional?: boolean
  /** Whether there may be more of it. */
  readonly repeated?: boolean
  /** The only values that it can have. */
  readonly words?: readonly string[]
}

interface Example {
  readonly line: string
  readonly description: string
}

/** The whole interface of a command. The parser, `--help`, the man page and the completions are made from it. */
export interface CommandDeclaration<D extends OptionDeclarations = OptionDeclarations> {
  readonly name: string
  /** One line for the list of commands, without a full stop. */
  readonly summary: string
  /** Sentences for `--help` and the man page, below the summary. */
  readonly details?: string
  /** Whether it is used once, such as to set up a shell: `leasehold --help` then has no line of its own for it. */
  readonly isRare?: boolean
  readonly operands: readonly OperandDeclaration[]
  /** Whether a command line of another program follows `--`. */
  readonly takesCommand?: boolean
  readonly options: D
  readonly examples: readonly Example[]
}

/** Returns the declaration. Its type keeps the names and types of the options. */
export function declareCommand<const D extends OptionDeclarations>(
  declaration: CommandDeclaration<D>,
): CommandDeclaration<D> {
  return declaration
}

/** A command line, parsed by its declaration. */
export interface Invocation<C extends CommandDeclaration = CommandDeclaration> {
  /** Without the command line after `--`, if the command takes one. */
  readonly operands: readonly string[]
  readonly options: OptionValues<C['options']>
  /** The words after `--`. */
  readonly command: readonly string[]
}

/** Carries out a command. Resolves with the exit code; rejects with the error to show. `all`: all declarations. */
export type Action<C extends CommandDeclaration> = (
  invocation: Invocation<C>,
  terminal: Terminal,
  all: readonly CommandDeclaration[],
) => Promise<number>

/** A command, and how to load it: only the chosen command is loaded. */
export interface Command {
  readonly declaration: CommandDeclaration
  readonly load: () => Promise<Action<CommandDeclaration>>
}

export function command<C extends CommandDeclaration>(declaration: C, load: () => Promise<Action<C>>): Command {
  // The parser makes the invocation of an action from the declaration of the same command.
  return { declaration, load: load as unknown as Command['load'] }
}
