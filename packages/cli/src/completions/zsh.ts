import { type CommandDeclaration, type OptionDeclaration, valueShown } from '../command-declaration.js'
import { completedValue } from './completed-values.js'

/** The completions for zsh: a file of the fpath, or for `source`. */
export function zshCompletion(commands: readonly CommandDeclaration[]): string {
  return `#compdef leasehold
# Completions of leasehold for zsh: leasehold completion zsh > ~/.zfunc/_leasehold
_leasehold() {
  local curcontext=$curcontext state line
  local -a commands=(
${commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}\n`).join('')}  )
  _arguments -C '(- *)'{-h,--help}'[Explain a command]' '(- *)--version[Show the version]' '1:command:->command' '*::argument:->argument' && return
  case $state in
    command) _describe -t commands command commands ;;
    argument)
      case $words[1] in
${commands.map(commandCase).join('')}      esac ;;
  esac
}
if [[ $funcstack[1] = _leasehold ]]; then _leasehold "$@"; else compdef _leasehold leasehold; fi
`
}

function commandCase({ name, operands, options, takesCommand }: CommandDeclaration): string {
  const specs = [
    ...Object.entries(options).map(([flag, option]) => optionSpec(flag, option)),
    `'(- *)'{-h,--help}'[Explain the command]'`,
    ...operands.map(({ name: operand, repeated, words }, place) => {
      const where = repeated === true ? '*' : String(place + 1)
      return quoted(`${where}:${operand}:${words === undefined ? ' ' : `(${words.join(' ')})`}`)
    }),
    ...(takesCommand === true ? [`'*::command:_normal'`] : []),
  ]
  return `        ${name}) _arguments -s ${specs.join(' ')} ;;\n`
}

function optionSpec(name: string, option: OptionDeclaration): string {
  const { short, description } = option
  const value = completedValue(option)
  const text = description.replaceAll(/[[\]\\]/g, '\\$&')
  const spec = `[${text}]${value === 'none' ? '' : `:${valueShown(option)}:${actionOf(value)}`}`
  if (short === undefined) return quoted(`--${name}${spec}`)
  return `'(-${short} --${name})'{-${short},--${name}}${quoted(spec)}`
}

function actionOf(value: ReturnType<typeof completedValue>): string {
  if (value === 'file') return '_files'
  if (typeof value === 'string') return ' '
  return `(${value.map((word) => word.replaceAll(':', '\\:')).join(' ')})`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
