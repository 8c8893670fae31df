import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { createLeasehold } from '../../src/create-leasehold.js'

export interface CommandOptions {
  readonly folder?: string
  readonly env?: NodeJS.ProcessEnv
  /** Whether the input and the output are a terminal. */
  readonly isTerminal?: boolean
}

/** A run of `create-leasehold` in this process. */
export class Command {
  readonly folder: string
  readonly input = new PassThrough()
  readonly ended: Promise<number>
  shown = ''
  errors = ''

  constructor(args: readonly string[], { folder = newFolder(), env = {}, isTerminal = false }: CommandOptions = {}) {
    this.folder = folder
    const [output, errors] = [new PassThrough(), new PassThrough()]
    output.on('data', (text) => {
      this.shown += text
    })
    errors.on('data', (text) => {
      this.errors += text
    })
    this.ended = createLeasehold({
      args,
      env,
      workingFolder: folder,
      input: Object.assign(this.input, { isTTY: isTerminal }),
      output: Object.assign(output, { isTTY: isTerminal }),
      errors,
    })
  }

  /** Types an answer when the question is shown. */
  async answer(question: string, text: string): Promise<void> {
    for (let turns = 0; !this.#unanswered.includes(question); turns += 1) {
      if (turns > 1_000) throw new Error(`'${question}' was not asked: ${this.shown}`)
      await new Promise((resolve) => setImmediate(resolve))
    }
    this.#seen = this.shown.length
    this.input.write(text)
  }

  #seen = 0
  get #unanswered(): string {
    return this.shown.slice(this.#seen)
  }
}

function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'create-leasehold-'))
}
