import { wrapped } from '@leasehold/core/internal'
import {
  type CommandDeclaration,
  type OptionDeclaration,
  type OptionDeclarations,
  valueShown,
} from './command-declaration.js'
import { answerOptions } from './declarations.js'
import { storeKinds } from './store-kinds.js'

/** `leasehold --help`: fits on a screen of 24 lines of 80 characters. */
export function overview(commands: readonly CommandDeclaration[]): string {
  const rows = commands.filter(({ isRare }) => isRare !== true).map(({ name, summary }) => [name, summary] as const)
  const rare = commands.filter(({ isRare }) => isRare === true).map(({ name }) => `leasehold ${name}`)
  const stores = storeKinds.map(({ schemes }) => `${schemes[0]}:`)
  const options = rowsOf(answerOptions)
  return [
    'usage: leasehold COMMAND [OPTION…]     leasehold COMMAND --help explains one',
    ...aligned(rows),
    ...aligned(options),
    ...wrapped(`See also ${rare.join(', ')}. Stores: ${stores.join(' ')}`, WIDTH),
    '',
  ].join('\n')
}

/** `leasehold COMMAND --help`: fits on a screen of 24 lines of 80 characters. Details for which it has no room are left out. */
export function commandHelp(command: CommandDeclaration): string {
  const { details: _, ...short } = command
  const whole = helpText(command)
  return whole.split('\n').length > HEIGHT ? helpText(short) : whole
}

function helpText(command: CommandDeclaration): string {
  const { summary, details, operands, options, examples } = command
  const own = Object.entries(options).filter(([name]) => !(name in answerOptions))
  const rare = own.filter(([, { isRare }]) => isRare === true)
  const usual = Object.fromEntries(own.filter(([, { isRare }]) => isRare !== true))
  const shared = Object.entries(options).filter(([name]) => name in answerOptions)
  const width = Math.max(0, ...examples.map(({ line }) => line.length))
  const isShort = examples.every(({ description }) => width + description.length <= WIDTH - 6)
  return [
    `usage: ${synopsis(command)}`,
    '',
    ...wrapped([`${summary}.`, details ?? ''].join(' ').trim(), WIDTH),
    '',
    ...aligned([...operands.map(({ name, description }) => [`    ${name}`, description] as const), ...rowsOf(usual)]),
    ...named(shared, 'leasehold --help'),
    ...named(rare, 'man leasehold'),
    '',
    ...examples.map(({ line, description }) => (isShort ? `  ${line.padEnd(width)}  # ${description}` : `  ${line}`)),
    '',
  ].join('\n')
}

/** The names of options, and where they are explained. */
function named(options: readonly (readonly [string, OptionDeclaration])[], where: string): readonly string[] {
  if (options.length === 0) return []
  const text = `and ${options.map(([name]) => `--${name}`).join(', ')}: see ${where}`
  return wrapped(text, WIDTH - 2).map((line) => `  ${line}`)
}

/** The size of a terminal. Its last line has the prompt. */
const WIDTH = 80
const HEIGHT = 24

/** How a command is called: `leasehold break NAME [OPTION…]`. */
export function synopsis({ name, operands, options, takesCommand }: CommandDeclaration): string {
  const shown = operands.map(({ name: operand, optional, repeated }) => {
    const text = repeated === true ? `${operand}…` : operand
    return optional === true ? `[${text}]` : text
  })
  const hasOptions = Object.keys(options).length > 0
  return [
    'leasehold',
    name,
    ...shown,
    ...(hasOptions ? ['[OPTION…]'] : []),
    ...(takesCommand === true ? ['-- COMMAND…'] : []),
  ].join(' ')
}

function rowsOf(options: OptionDeclarations): (readonly [string, string])[] {
  return Object.entries(options).map(([name, option]) => [flagsOf(name, option), option.description] as const)
}

/** `-o, --output table|json`. */
function flagsOf(name: string, option: OptionDeclaration): string {
  const short = option.short === undefined ? '    ' : `-${option.short}, `
  const value = valueShown(option)
  return `${short}--${name}${value === undefined ? '' : ` ${value}`}`
}

function aligned(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(0, ...rows.map(([first]) => first.length))
  return rows.map(([first, second]) => `  ${first.padEnd(width)}  ${second}`)
}
