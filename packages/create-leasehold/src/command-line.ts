import { parseArgs } from 'node:util'
import { type Choices, recipes, stores } from './choices.js'
import { UsageError } from './create-error.js'

/** A command line, with the choices that it has. */
export interface CommandLine {
  readonly choices: Partial<Choices>
  /** Take the defaults for the other choices. */
  readonly yes: boolean
  readonly asksFor: 'help' | 'version' | undefined
}

const options = {
  store: { type: 'string', short: 's' },
  recipe: { type: 'string', short: 'r' },
  yes: { type: 'boolean', short: 'y' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const

/** Throws a `UsageError` for an unknown option or choice, and for more than one folder. */
export function parseCommandLine(args: readonly string[], env: NodeJS.ProcessEnv): CommandLine {
  checkForLostFlags(env)
  const { values, positionals } = parsed(args)
  const [path, ...rest] = positionals
  if (rest.length > 0) throw new UsageError(`one folder is enough: remove '${rest.join(' ')}'`)
  return {
    choices: {
      ...(path === undefined ? {} : { path }),
      ...(values.store === undefined ? {} : { store: choiceOf('store', values.store, stores) }),
      ...(values.recipe === undefined ? {} : { recipe: choiceOf('recipe', values.recipe, recipes) }),
    },
    yes: values.yes === true,
    asksFor: values.help === true ? 'help' : values.version === true ? 'version' : undefined,
  }
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    const [sentence = ''] = (error as Error).message.split('. ')
    throw new UsageError(`${sentence.replace(/^./, (letter) => letter.toLowerCase())}: see --help`)
  }
}

function choiceOf<C extends string>(name: string, word: string, choices: readonly C[]): C {
  const choice = choices.find((each) => each === word)
  if (choice === undefined) throw new UsageError(`--${name} must be ${choices.join(', ')}; not '${word}'`)
  return choice
}

/** `npm create leasehold x --store redis`, without `--`: npm takes the flags for settings of its own, and passes none on. */
function checkForLostFlags(env: NodeJS.ProcessEnv): void {
  const lost = ['store', 'recipe'].filter((name) => env[`npm_config_${name}`] !== undefined)
  if (lost.length === 0) return
  throw new UsageError(
    `npm kept --${lost.join(' and --')} for itself: write -- before the flags, as in npm create leasehold my-service -- --store redis`,
  )
}

export const usage = `usage: npm create leasehold [FOLDER] [-- OPTION…]

Writes a small service into FOLDER. It asks for what you do not give.

  -s, --store STORE    ${stores.join(', ')}
  -r, --recipe RECIPE  ${recipes.join(', ')}
  -y, --yes            ask nothing: my-service, local and leader, unless given
  -h, --help           show this
  -v, --version        show the version

  npm create leasehold my-service -- --store redis --recipe schedule --yes
`
