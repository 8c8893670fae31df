import type { CommandDeclaration, OptionDeclaration } from './command-declaration.js'

const WIDTH = 80

/** `leasehold --help`: fits on a screen of 24 lines of 80 characters. */
export function overview(commands: readonly CommandDeclaration[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  return [
    'usage: leasehold COMMAND [OPTION…]',
    '',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
  ].join('\n')
}

/** `leasehold COMMAND --help`: fits on a screen of 24 lines of 80 characters. */
export function commandHelp(command: CommandDeclaration): string {
  const options = Object.entries(command.options).map(([name, option]) => [flagsOf(name, option), option.description])
  const width = Math.max(...options.map(([flags = '']) => flags.length))
  return [
    `usage: ${synopsis(command)}`,
    '',
    `${command.summary}.`,
    '',
    ...options.map(([flags = '', description]) => `  ${flags.padEnd(width)}  ${description}`.slice(0, WIDTH)),
    '',
    ...command.examples.map(({ line, description }) => `  ${line}  # ${description}`),
    '',
  ].join('\n')
}

/** How a command is called: `leasehold break NAME [OPTION…]`. */
export function synopsis({ name, operands, takesCommand }: CommandDeclaration): string {
  const shown = operands.map(({ name, optional, repeated }) => {
    const text = repeated === true ? `${name}…` : name
    return optional === true ? `[${text}]` : text
  })
  return ['leasehold', name, ...shown, '[OPTION…]', ...(takesCommand === true ? ['-- COMMAND…'] : [])].join(' ')
}

/** `-o, --output table|json`. */
export function flagsOf(name: string, option: OptionDeclaration): string {
  const short = option.short === undefined ? '    ' : `-${option.short}, `
  if (option.type === 'switch') return `${short}--${name}`
  return `${short}--${name} ${option.type === 'choice' ? option.words.join('|') : option.value}`
}
