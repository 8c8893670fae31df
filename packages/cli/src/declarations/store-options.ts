import type { OptionDeclarations } from '../command-declaration.js'

/** The options of every command that uses a store. */
export const storeOptions = {
  store: {
    type: 'text',
    value: 'URL',
    short: 's',
    completes: 'store',
    description: 'The URL of the store; also in LEASEHOLD_STORE',
  },
  config: {
    type: 'text',
    value: 'FILE',
    short: 'c',
    completes: 'file',
    description: 'A HOCON file that has the store',
  },
  path: { type: 'text', value: 'PATH', description: 'The block of the file (leasehold.lease)' },
  timeout: {
    type: 'duration',
    value: 'DURATION',
    description: 'The time limit of each call to the store (5s)',
  },
} as const satisfies OptionDeclarations

/** The option of every command that prints a result. */
export const outputOption = {
  output: { type: 'choice', short: 'o', words: ['table', 'json'], description: 'The form of the result' },
} as const satisfies OptionDeclarations
