import type { CommandDeclaration, OptionDeclaration } from '../command-declaration.js'
import { completedValue } from './completed-values.js'

/** The completions for fish: a file of its folder of completions. */
export function fishCompletion(commands: readonly CommandDeclaration[]): string {
  return `# Completions of leasehold for fish: leasehold completion fish > ~/.config/fish/completions/leasehold.fish
complete -c leasehold -f
complete -c leasehold -s h -l help -d 'Explain a command'
complete -c leasehold -n __fish_use_subcommand -l version -d 'Show the version'
${commands.map(linesOf).join('')}`
}

function linesOf({ name, summary, operands, options, takesCommand }: CommandDeclaration): string {
  const within = `complete -c leasehold -n '__fish_seen_subcommand_from ${name}'`
  const words = operands.flatMap((operand) => operand.words ?? [])
  const lines = [
    `complete -c leasehold -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
    ...Object.entries(options).map(([flag, option]) => `${within} ${optionOf(flag, option)}`),
    ...(words.length === 0 ? [] : [`${within} -a ${quoted(words.join(' '))}`]),
    ...(takesCommand === true
      ? [
          `complete -c leasehold -n '__fish_seen_subcommand_from ${name}; and contains -- -- (commandline -opc)' -a '(__fish_complete_subcommand --fcs-skip=(contains -i -- -- (commandline -opc)))'`,
        ]
      : []),
  ]
  return `${lines.join('\n')}\n`
}

function optionOf(name: string, option: OptionDeclaration): string {
  const value = completedValue(option)
  const short = option.short === undefined ? '' : `-s ${option.short} `
  const takes =
    typeof value === 'string' ? { none: '', file: '-r -F ', text: '-x ' }[value] : `-x -a ${quoted(value.join(' '))} `
  return `${short}-l ${name} ${takes}-d ${quoted(option.description)}`
}

function quoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, '\\$&')}'`
}
