import process from 'node:process'

/** Sets the wall clock of this process ahead by the milliseconds of its first argument, before another module reads it. */
const skew = Number(process.argv[2])
const RealDate = Date

class SkewedDate extends RealDate {
  constructor(...args: [] | [number | string | Date] | [number, number]) {
    if (args.length === 0) super(SkewedDate.now())
    else super(...(args as [number]))
  }

  static override now(): number {
    return RealDate.now() + skew
  }
}

globalThis.Date = SkewedDate as DateConstructor
