// #region example
import { type Config, parseHocon } from '@leasehold/config'

export function readSettings(text: string, defaults: Config): { url: string; ttl: number } {
  const config = parseHocon(text, { source: 'jobs.conf' }).withFallback(defaults)
  // A wrong value says: jobs.conf:3:9: 'jobs.ttl' is the string "soon": expected a duration such as 12s or 500 ms
  return { url: config.getString('jobs.url'), ttl: config.getDuration('jobs.ttl') }
}
// #endregion example
