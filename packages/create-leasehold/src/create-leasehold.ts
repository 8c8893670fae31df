import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { type Choices, defaults } from './choices.js'
import { type CommandLine, parseCommandLine, usage } from './command-line.js'
import { CreateError, UsageError } from './create-error.js'
import { exitCodes } from './exit-codes.js'
import { projectFiles } from './project-files.js'
import { placeOf } from './project-name.js'
import { askFor } from './questions.js'
import { checkFolder, writeProject } from './write-project.js'

/** The process, as this program uses it. */
export interface Surroundings {
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly workingFolder: string
  readonly input: Readable & { readonly isTTY?: boolean }
  readonly output: Writable & { readonly isTTY?: boolean }
  readonly errors: Writable
}

/** Writes a project. Resolves with the exit code, and never rejects. */
export async function createLeasehold(surroundings: Surroundings): Promise<number> {
  try {
    const { output } = surroundings
    const line = parseCommandLine(surroundings.args, surroundings.env)
    if (line.asksFor !== undefined) output.write(line.asksFor === 'help' ? usage : `${ownVersion()}\n`)
    else output.write(await create(line, surroundings))
    return exitCodes.ok
  } catch (error) {
    const isExpected = error instanceof CreateError
    surroundings.errors.write(`create-leasehold: ${isExpected ? error.message : (error as Error).stack}\n`)
    return isExpected ? error.exitCode : exitCodes.internal
  }
}

/** Returns the next steps, as text. */
async function create(line: CommandLine, surroundings: Surroundings): Promise<string> {
  const { workingFolder } = surroundings
  // Before the first question: an answer would be lost.
  if (line.choices.path !== undefined) checkFolder(placeOf(line.choices.path, workingFolder).folder)
  const { path, store, recipe } = await choicesFor(line, surroundings)
  const { folder, name } = placeOf(path, workingFolder)
  checkFolder(folder)
  const files = projectFiles({ name, store, recipe, version: ownVersion() })
  writeProject(folder, files)
  return nextSteps({
    folder: relative(workingFolder, folder),
    name,
    store,
    recipe,
    hasServer: files.has('compose.yaml'),
  })
}

async function choicesFor({ choices, yes }: CommandLine, surroundings: Surroundings): Promise<Choices> {
  const { input, output, workingFolder } = surroundings
  if (yes) return { ...defaults, ...choices }
  const missing = (['path', 'store', 'recipe'] as const).filter((name) => choices[name] === undefined)
  if (missing.length === 0) return { ...defaults, ...choices }
  if (input.isTTY === true && output.isTTY === true) return await askFor(choices, { input, output }, workingFolder)
  const words = missing.map((name) => (name === 'path' ? 'FOLDER' : `--${name}`)).join(', ')
  throw new UsageError(`there is no terminal to ask on: give ${words}, or --yes for the defaults; see --help`)
}

/** The version of this package is that of all packages of a release. */
function ownVersion(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version
}

interface Written extends Omit<Choices, 'path'> {
  readonly folder: string
  readonly name: string
  readonly hasServer: boolean
}

function nextSteps({ folder, name, store, recipe, hasServer }: Written): string {
  const steps = [
    ...(folder === '' ? [] : [`cd ${folder}`]),
    'npm install',
    'npm test',
    ...(hasServer ? ['docker compose up -d'] : []),
    ...(store === 'kubernetes' ? ['kubectl apply -f kubernetes.yaml'] : []),
    'npm start',
  ]
  const lines = steps.map((step) => `  ${step}\n`).join('')
  return `${name} is written: ${recipe} on ${store}. Next:\n\n${lines}\nThe README says how to start it twice and see a take-over.\n`
}
