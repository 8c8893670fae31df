import { declareCommand } from '../command-declaration.js'
import { outputOption, storeOptions } from './store-options.js'

const { timeout: _, ...selection } = storeOptions

export const config = declareCommand({
  name: 'config',
  summary: 'Show the settings of a lease, and where each was given',
  details:
    'Reads files and environment variables, and asks no store. Secrets are masked. A setting that nothing reads is a ' +
    'warning; contradictory settings are an error.',
  operands: [],
  options: { ...selection, ...outputOption },
  examples: [
    { line: 'leasehold config -c application.conf --path shop.import', description: 'one block' },
    { line: 'leasehold config', description: 'the store that is used without options' },
  ],
})
