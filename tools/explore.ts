import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { buildProgram } from '@leasehold/testing/build-program'

/** The bounds of `testing/simulator/src/explore/bounds.ts`; `--no-crashes` and the like turn one off. */
const options = {
  store: { type: 'string' },
  clients: { type: 'string' },
  ttl: { type: 'string' },
  messages: { type: 'string' },
  drift: { type: 'string' },
  users: { type: 'string' },
  duplicates: { type: 'boolean' },
  'late-answers': { type: 'boolean' },
  failures: { type: 'boolean' },
  crashes: { type: 'boolean' },
  queue: { type: 'boolean' },
  cleanup: { type: 'boolean' },
  exact: { type: 'boolean' },
  deletions: { type: 'boolean' },
  /** After how many units a clock can be wrong again. Small numbers, such as 0, break what a lease assumes. */
  steady: { type: 'string' },
  /** Stops after this number of states, or of minutes. */
  states: { type: 'string' },
  minutes: { type: 'string' },
  /** Takes steps whose order makes no difference in every order. */
  full: { type: 'boolean' },
  /** Checks that from every state someone can hold the lease, and that no call can be pending for ever. */
  progress: { type: 'boolean' },
} as const

const { values } = parseArgs({ options, allowNegative: true })
const { store, drift, users, duplicates, failures, crashes, queue, cleanup, exact, deletions, progress, full } = values
const minutes = wholeNumber('minutes')
const bounds = {
  store,
  clients: wholeNumber('clients'),
  ttl: wholeNumber('ttl'),
  messages: wholeNumber('messages'),
  drift,
  users: users?.split(','),
  duplicates,
  lateAnswers: values['late-answers'],
  failures,
  crashes,
  queue,
  cleanup,
  exact,
  deletions,
  steady: values.steady === undefined ? undefined : Number(values.steady),
}
const search = {
  mostStates: wholeNumber('states'),
  longest: minutes === undefined ? undefined : minutes * 60_000,
  reduces: full === true ? false : undefined,
  progress,
}

const program = await buildProgram('tools/exploration/run.ts')
// The states are in typed arrays, outside of the heap; what is there is short-lived.
const nodeOptions = ['--max-semi-space-size=64']
const child = spawn(process.execPath, [...nodeOptions, program, JSON.stringify(bounds), JSON.stringify(search)], {
  stdio: 'inherit',
})
child.once('exit', (code) => {
  rmSync(program, { force: true })
  process.exitCode = code ?? 1
})

function wholeNumber(name: 'clients' | 'ttl' | 'messages' | 'states' | 'minutes'): number | undefined {
  const text = values[name]
  if (text === undefined) return undefined
  const value = Number(text)
  if (Number.isSafeInteger(value) && value > 0) return value
  throw new TypeError(`--${name} must be a positive whole number, not '${text}'`)
}
