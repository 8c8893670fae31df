import type { CommandDeclaration } from '../command-declaration.js'
import { completedValue } from './completed-values.js'

/** The completions for bash: a function, without the package bash-completion. */
export function bashCompletion(commands: readonly CommandDeclaration[]): string {
  const names = commands.map(({ name }) => name)
  const takers = commands.filter(({ takesCommand }) => takesCommand === true).map(({ name }) => name)
  return `# Completions of leasehold for bash: source <(leasehold completion bash)
_leasehold() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command= i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case \${COMP_WORDS[i]} in
      --) case $command in ${takers.join('|')})
            if ((i == COMP_CWORD - 1)); then COMPREPLY=($(compgen -c -- "$cur")); else COMPREPLY=($(compgen -f -- "$cur")); fi
            return ;;
          esac ;;
      ${names.join('|')}) command=\${command:-\${COMP_WORDS[i]}} ;;
    esac
  done
  case $command:$prev in
${commands.map(valueCases).join('')}  esac
  case $command in
    '') COMPREPLY=($(compgen -W '${names.join(' ')} --help --version' -- "$cur")) ;;
${commands.map(wordsCase).join('')}  esac
}
complete -F _leasehold leasehold
`
}

/** The cases of the options of a command that have a value. */
function valueCases({ name: command, options }: CommandDeclaration): string {
  const cases = Object.entries(options).map(([name, option]) => {
    const value = completedValue(option)
    if (value === 'none') return ''
    const short = option.short === undefined ? '' : `|${command}:-${option.short}`
    return `    ${command}:--${name}${short}) ${replyWith(value)}return ;;\n`
  })
  return cases.join('')
}

function replyWith(value: ReturnType<typeof completedValue>): string {
  if (value === 'none' || value === 'text') return ''
  if (value === 'file') return 'COMPREPLY=($(compgen -f -- "$cur")); '
  const isOpen = value.some((word) => word.endsWith(':') || word.endsWith('/'))
  return `COMPREPLY=($(compgen -W '${value.join(' ')}' -- "$cur")); ${isOpen ? 'compopt -o nospace 2>/dev/null; ' : ''}`
}

function wordsCase({ name, operands, options }: CommandDeclaration): string {
  const words = [
    ...operands.flatMap((operand) => operand.words ?? []),
    ...Object.keys(options).map((each) => `--${each}`),
  ]
  return `    ${name}) COMPREPLY=($(compgen -W '${[...words, '--help'].join(' ')}' -- "$cur")) ;;\n`
}
