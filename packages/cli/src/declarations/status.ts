import { declareCommand } from '../command-declaration.js'
import { outputOption, storeOptions } from './store-options.js'

export const status = declareCommand({
  name: 'status',
  summary: 'Show who holds leases',
  operands: [{ name: 'NAME', description: 'The name of a lease', repeated: true }],
  options: { ...storeOptions, ...outputOption },
  examples: [
    { line: 'leasehold status backup', description: 'one lease of this machine' },
    { line: 'leasehold status a b --store redis://db -o json', description: 'two leases of a server' },
  ],
})
