import { describeUnitMutants } from '@leasehold/testing'
import { migrateMutants } from './migrate/migrate-mutants.js'
import { unitMutants } from './unit-mutants.js'

describeUnitMutants(new URL('../', import.meta.url), [...unitMutants, ...migrateMutants])
