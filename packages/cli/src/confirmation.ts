import { createInterface } from 'node:readline/promises'
import type { Terminal } from './terminal.js'

/** Asks on the terminal; only a clear yes is one, and the end of the input is a no. */
export async function isConfirmed(question: string, { input, errors }: Terminal): Promise<boolean> {
  const lines = createInterface({ input, output: errors, terminal: false })
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
  try {
    return /^y(es)?$/i.test((await Promise.race([lines.question(`${question} [y/N] `), ended])).trim())
  } finally {
    lines.close()
  }
}
