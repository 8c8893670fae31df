import type { CommandDeclaration, OptionDeclaration } from '../command-declaration.js'
import { completedValue } from './completed-values.js'

/** The completions for bash: a function, without the package bash-completion. */
export function bashCompletion(commands: readonly CommandDeclaration[]): string {
  return `# Completions of leasehold for bash: source <(leasehold completion bash)
_leasehold() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command= skip= word i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ -n $skip ]]; then skip=; continue; fi
    case $word in
      --) case $command in ${caseOf(commands.filter(({ takesCommand }) => takesCommand === true))})
            if ((i == COMP_CWORD - 1)); then COMPREPLY=($(compgen -c -- "$cur")); else COMPREPLY=($(compgen -f -- "$cur")); fi
            return ;;
          esac ;;
      ${flagsWithValue(commands)}) skip=1 ;;
      # bash parts a word at ":" and "=".
      :|=) skip=1 ;;
      -*) ;;
      *) [[ -z $command ]] && command=$word ;;
    esac
  done
  case $command:$prev in
${commands.map(valueCases).join('')}  esac
  case $command in
    '') COMPREPLY=($(compgen -W '${commands.map(({ name }) => name).join(' ')} --help --version' -- "$cur")) ;;
${commands.map(wordsCase).join('')}  esac
}
complete -F _leasehold leasehold
`
}

/** The cases of the options of a command that have a value. */
function valueCases({ name: command, options }: CommandDeclaration): string {
  return Object.entries(options)
    .flatMap(([name, option]) => {
      const value = completedValue(option)
      if (value === 'none') return []
      return `    ${flagsOf(name, option)
        .map((flag) => `${command}:${flag}`)
        .join('|')}) ${replyWith(value)}return ;;\n`
    })
    .join('')
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

function flagsWithValue(commands: readonly CommandDeclaration[]): string {
  const flags = commands.flatMap(({ options }) =>
    Object.entries(options).flatMap(([name, option]) => (option.type === 'switch' ? [] : flagsOf(name, option))),
  )
  return [...new Set(flags)].join('|')
}

function flagsOf(name: string, { short }: OptionDeclaration): string[] {
  return [`--${name}`, ...(short === undefined ? [] : [`-${short}`])]
}

/** A pattern for the names of commands; one that nothing matches, if there are none. */
function caseOf(commands: readonly CommandDeclaration[]): string {
  return commands.length === 0 ? "''" : commands.map(({ name }) => name).join('|')
}
