import { describeMutants } from '../support/mutants.js'
import { mutants } from './mutants.js'

describeMutants(new URL('hunt.ts', import.meta.url), mutants)
