import { createInterface, type Interface } from 'node:readline/promises'
import type { Readable, Writable } from 'node:stream'
import { type Choices, defaults, recipes, stores } from './choices.js'
import { CreateError, InterruptedError, NoInputError } from './create-error.js'
import { type PartKind, readPart } from './part.js'
import { placeOf } from './project-name.js'
import { checkFolder } from './write-project.js'

/** The terminal of the user. */
export interface Terminal {
  readonly input: Readable
  readonly output: Writable
}

/**
 * Asks for the choices that are not given. Rejects with an `InterruptedError` on Ctrl-C, and with a `NoInputError` when the input
 * ends.
 */
export async function askFor(given: Partial<Choices>, { input, output }: Terminal, folder: string): Promise<Choices> {
  const ends = new AbortController()
  const terminal = createInterface({ input, output, terminal: true })
  terminal.on('SIGINT', () => ends.abort(new InterruptedError()))
  terminal.on('close', () => ends.abort(new NoInputError()))
  const ask = (question: string) => answered(terminal, question, ends.signal)
  try {
    return {
      path: given.path ?? (await askForPath(ask, output, folder)),
      store: given.store ?? (await choose(ask, output, { kind: 'stores', what: 'Store', ids: stores })),
      recipe: given.recipe ?? (await choose(ask, output, { kind: 'recipes', what: 'Recipe', ids: recipes })),
    }
  } finally {
    terminal.close()
  }
}

type Ask = (question: string) => Promise<string>

/** A question of readline stays open for ever when the input ends: the signal ends it. */
async function answered(terminal: Interface, question: string, signal: AbortSignal): Promise<string> {
  if (signal.aborted) throw signal.reason
  try {
    return (await terminal.question(question, { signal })).trim()
  } catch (error) {
    // The error of readline says only that it was aborted.
    if (signal.aborted) throw signal.reason
    throw error
  }
}

async function askForPath(ask: Ask, output: Writable, folder: string): Promise<string> {
  for (;;) {
    const path = (await ask(`Folder [${defaults.path}]: `)) || defaults.path
    try {
      checkFolder(placeOf(path, folder).folder)
      return path
    } catch (error) {
      if (!(error instanceof CreateError)) throw error
      output.write(`  ${error.message}\n`)
    }
  }
}

interface Question<C extends string> {
  readonly kind: PartKind
  readonly what: string
  readonly ids: readonly C[]
}

async function choose<C extends string>(ask: Ask, output: Writable, { kind, what, ids }: Question<C>): Promise<C> {
  const width = Math.max(...ids.map((id) => id.length))
  const rows = ids.map((id, place) => `  ${place + 1}  ${id.padEnd(width)}  ${readPart(kind, id).title}\n`)
  output.write(`\n${rows.join('')}`)
  for (;;) {
    const answer = (await ask(`${what} [1]: `)) || '1'
    const choice = ids.find((id, place) => answer === id || answer === String(place + 1))
    if (choice !== undefined) return choice
    output.write(`  '${answer}' is none of them: type a number from 1 to ${ids.length}, or a name\n`)
  }
}
