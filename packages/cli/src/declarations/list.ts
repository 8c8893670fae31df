import { declareCommand } from '../command-declaration.js'
import { outputOption, storeOptions } from './store-options.js'

export const list = declareCommand({
  name: 'list',
  summary: 'List leases, by the beginning of their names',
  details: 'A released lease is listed too: its record has the fencing token.',
  operands: [{ name: 'PREFIX', description: 'The beginning of the names', optional: true }],
  options: {
    held: { type: 'switch', description: 'Only leases that somebody holds' },
    ...storeOptions,
    ...outputOption,
  },
  examples: [
    { line: 'leasehold list', description: 'the leases of this user on this machine' },
    { line: 'leasehold list jobs/ --held -o json | jq -r .[].owner', description: 'who works' },
  ],
})
