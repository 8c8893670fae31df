import type { Page } from 'playwright-core'
import { percentile } from '../support/statistics.js'

export interface Frames {
  readonly count: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly longest: number
  /** The highest element that was scrolled, and over how much, in pixels. */
  readonly scrolled: string
}

/**
 * Scrolls the list up and down for some seconds, at 3,000 pixels a second, and measures the time between two frames by
 * `requestAnimationFrame`.
 */
export async function framesWhileScrolling(page: Page, seconds: number): Promise<Frames> {
  const { times, scrolled } = await page.evaluate<{ times: number[]; scrolled: string }>(`new Promise((resolve) => {
    const scrolls = (each) => each.scrollHeight > each.clientHeight + 100 && /auto|scroll/.test(getComputedStyle(each).overflowY)
    const candidates = [document.scrollingElement, ...[...document.querySelectorAll('*')].filter(scrolls)]
    const range = (each) => each.scrollHeight - each.clientHeight
    const list = candidates.sort((a, b) => range(b) - range(a))[0]
    const times = []
    const begun = performance.now()
    let last = begun
    const frame = (now) => {
      times.push(now - last)
      last = now
      if (now - begun > ${seconds * 1_000}) {
        resolve({ times: times.slice(5), scrolled: list.tagName.toLowerCase() + '.' + list.className + ', ' + range(list) + ' px' })
        return
      }
      const way = ((now - begun) * 3) % (2 * range(list))
      list.scrollTop = way < range(list) ? way : 2 * range(list) - way
      requestAnimationFrame(frame)
    }
    requestAnimationFrame(frame)
  })`)
  return {
    count: times.length,
    p50: percentile(times, 0.5),
    p95: percentile(times, 0.95),
    p99: percentile(times, 0.99),
    longest: Math.max(...times),
    scrolled,
  }
}
