import { type MeterProvider, metrics } from '@opentelemetry/api'
import { Instruments, type Readings } from './instruments.js'

/** The scope of the meter and the tracer. */
export const SCOPE = '@leasehold/opentelemetry'

/** The instruments of the meter provider that counts now: the global one may be registered after the instrumentation. */
export class CurrentInstruments {
  readonly #given: MeterProvider | undefined
  #readings: Readings | undefined
  #provider: MeterProvider | undefined
  #instruments: Instruments | undefined

  constructor(given: MeterProvider | undefined) {
    this.#given = given
  }

  /** `readings`: what the observable instruments show. */
  begin(readings: Readings): void {
    this.#readings = readings
    this.get()
  }

  readonly get = (): Instruments => {
    const provider = this.#given ?? metrics.getMeterProvider()
    if (this.#instruments !== undefined && this.#provider === provider) return this.#instruments
    this.#instruments?.end()
    this.#provider = provider
    this.#instruments = new Instruments(provider.getMeter(SCOPE), this.#readings)
    return this.#instruments
  }

  end(): void {
    this.#instruments?.end()
  }
}
