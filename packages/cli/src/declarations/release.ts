import { declareCommand } from '../command-declaration.js'
import { outputOption, storeOptions } from './store-options.js'

export const release = declareCommand({
  name: 'release',
  summary: 'Release a lease by the id of its grant',
  details:
    'Frees the name at once, and only if that grant is in force; otherwise, nothing is changed, and the exit code is 1. ' +
    'For a grant whose holder is gone for certain; for any other, use break.',
  operands: [{ name: 'NAME', description: 'The name of the lease' }],
  options: {
    grant: { type: 'text', value: 'ID', short: 'g', description: 'The grant id, as status -o json shows it; required' },
    ...storeOptions,
    ...outputOption,
  },
  examples: [
    {
      line: 'leasehold release backup --grant 1d0b7f3a-2f5e-4a35-9d1e-0c6b5a7e9f21',
      description: 'frees it',
    },
  ],
})
