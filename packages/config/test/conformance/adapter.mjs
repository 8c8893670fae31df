/** The functions that the runner of the HOCON cases needs from a reader. */
import { Config, parseHocon } from '@leasehold/config'

function read(text, { env, readInclude, id }) {
  return parseHocon(text, { env, readInclude, source: id })
}

export function parse(text, options) {
  return read(text, options).toObject()
}

/** The first layer wins. */
export function load(layers, options) {
  return layers
    .map((text) => read(text, options))
    .reduce((above, below) => above.withFallback(below))
    .toObject()
}

export function duration(value) {
  return Config.from({ value }).getDuration('value')
}

export function bytes(value) {
  return Config.from({ value }).getBytes('value')
}

export function list(value) {
  return Config.from({ value }).getList('value')
}
