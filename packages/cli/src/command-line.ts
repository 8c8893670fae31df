import { parseArgs } from 'node:util'
import { toMilliseconds } from '@leasehold/core/internal'
import { type CommandDeclaration, type Invocation, type OptionDeclaration, valueShown } from './command-declaration.js'
import { answerOptions } from './declarations.js'
import { didYouMean, UsageError } from './usage-error.js'

/** The words of a command line, before the options of the command are known. */
export interface CommandLine {
  /** `undefined` where the line has none. */
  readonly command: string | undefined
  /** All other words, in their order. */
  readonly words: readonly string[]
}

/** Splits a command line. Options that most commands have may stand before the command. */
export function splitCommandLine(args: readonly string[]): CommandLine {
  let position = 0
  for (let word = args[0]; word?.startsWith('-') && word !== '--'; word = args[position]) {
    const option = Object.entries<OptionDeclaration>(answerOptions).find(
      ([name, { short }]) => word === `--${name}` || word === `-${short}`,
    )
    position += option === undefined || option[1].type === 'switch' ? 1 : 2
  }
  return { command: args[position], words: [...args.slice(0, position), ...args.slice(position + 1)] }
}

/** Whether the words ask for the help. Words after `--` are another program's. */
export function asksForHelp(words: readonly string[]): boolean {
  const end = words.indexOf('--')
  return words.slice(0, end < 0 ? undefined : end).some((word) => word === '--help' || word === '-h')
}

/** Throws a `UsageError` for an unknown or an invalid option, and for operands that are missing or too many. */
export function parseInvocation<C extends CommandDeclaration>(declaration: C, words: readonly string[]): Invocation<C> {
  const { options } = declaration
  const { tokens } = parseArgs({
    args: [...words],
    options: Object.fromEntries(
      Object.entries(options).map(([name, { type, short }]) => [
        name,
        { type: type === 'switch' ? 'boolean' : 'string', ...(short === undefined ? {} : { short }) } as const,
      ]),
    ),
    strict: false,
    tokens: true,
  })
  const end = tokens.find(({ kind }) => kind === 'option-terminator')?.index ?? words.length
  const values: Record<string, unknown> = {}
  const operands: string[] = []
  const command: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') {
      if (declaration.takesCommand === true && token.index > end) command.push(token.value)
      else operands.push(token.value)
    } else if (token.kind === 'option') {
      const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined
      if (option === undefined) throw unknownOption(declaration, token.rawName)
      // A word that looks like an option is not the value of the one before it, unless "=" says so.
      const isForgotten = token.inlineValue === false && token.value.startsWith('-') && token.value !== '-'
      values[token.name] = valueGiven(token.rawName, option, isForgotten ? undefined : token.value)
    }
  }
  checkOperands(declaration, operands)
  return { operands, options: values as Invocation<C>['options'], command }
}

function valueGiven(name: string, option: OptionDeclaration, text: string | undefined): unknown {
  if (option.type === 'switch') {
    if (text === undefined) return true
    throw new UsageError(`${name} takes no value: remove '${text}'`)
  }
  if (option.type === 'choice') {
    if (text !== undefined && option.words.includes(text)) return text
    throw new UsageError(`${name} must be ${option.words.join(' or ')}${text === undefined ? '' : `, not '${text}'`}`)
  }
  if (text === undefined) throw new UsageError(`${name} needs a value: ${name} ${valueShown(option)}`)
  if (option.type === 'text') return text
  if (option.type === 'duration') return durationOf(name, text)
  const number = text.trim() === '' ? Number.NaN : Number(text)
  const isValid = option.type === 'count' ? Number.isSafeInteger(number) && number > 0 : number >= 0
  if (isValid) return number
  throw new UsageError(`${name} must be a ${option.type === 'count' ? 'positive whole ' : ''}number, not '${text}'`)
}

function durationOf(name: string, text: string): number {
  try {
    return toMilliseconds(name, text)
  } catch {
    throw new UsageError(`${name} must be a duration such as 10s, 500ms or infinite, not '${text}'`)
  }
}

function unknownOption({ name, options }: CommandDeclaration, option: string): UsageError {
  const known = [...Object.keys(options), 'help'].map((each) => `--${each}`)
  const help = didYouMean(option, known, `see leasehold ${name} --help`)
  return new UsageError(`'leasehold ${name}' has no option ${option}: ${help}`)
}

function checkOperands({ name, operands: declared }: CommandDeclaration, given: readonly string[]): void {
  const required = declared.filter(({ optional }) => optional !== true)
  const missing = required[given.length]
  if (missing !== undefined) {
    throw new UsageError(
      `'leasehold ${name}' needs ${missing.name}: ${missing.description}; see leasehold ${name} --help`,
    )
  }
  for (const [place, { name: operand, words }] of declared.entries()) {
    const word = given[place]
    if (words === undefined || word === undefined || words.includes(word)) continue
    const help = didYouMean(word, words, `it takes ${words.join(', ')}`)
    throw new UsageError(`'leasehold ${name}' has no ${operand} '${word}': ${help}`)
  }
  if (declared.at(-1)?.repeated === true || given.length <= declared.length) return
  throw new UsageError(`'leasehold ${name}' has no use for '${given[declared.length]}': see leasehold ${name} --help`)
}
