import { describeUnitMutants } from '@leasehold/testing'
import { unitMutants } from './unit-mutants.js'

describeUnitMutants(new URL('../', import.meta.url), unitMutants)
