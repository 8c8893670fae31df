import { describeUnless } from './describe-unless.js'
import { motoProgram, oldMotoProgram } from './moto-server.js'

/** Tests that start a real moto: skipped where there is none. */
export function describeMoto(title: string, tests: () => void): void {
  describeUnless(motoProgram.whyNot, title, tests)
}

/** Tests of an S3 that accepts `If-Match` and ignores it: skipped where there is no such moto. */
export function describeOldMoto(title: string, tests: () => void): void {
  describeUnless(oldMotoProgram.whyNot, title, tests)
}
