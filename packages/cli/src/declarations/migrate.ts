import { declareCommand } from '../command-declaration.js'
import { outputOption, storeOptions } from './store-options.js'

const { timeout: _, ...options } = storeOptions

export const migrate = declareCommand({
  name: 'migrate',
  summary: 'Create the tables of a store, or bring them up to date',
  details:
    'PostgreSQL needs it before the first lease, and after an update of @leasehold/postgres. Leases stay as they are, and it can be ' +
    'run again at any time. Other stores need no tables.',
  operands: [],
  options: { ...options, ...outputOption },
  examples: [
    { line: 'leasehold migrate --store postgres://localhost/app', description: 'creates the schema leasehold' },
  ],
})
