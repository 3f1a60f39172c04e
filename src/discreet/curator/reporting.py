"""Reports of the curator: what may be asked, what is spent and left, what was answered; and renewals.

What an owner does with budgets: renew one by its declared policy, and see which near their end.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from pathlib import Path
from typing import Any

from discreet.ask.release.snapshots import begin_versions, stale_words, versions_report
from discreet.ask.release.stored_answers import unpack
from discreet.base.answer import Answer
from discreet.base.bill import OWNER, Spent
from discreet.base.display import BudgetReport
from discreet.base.schema import Dataset
from discreet.curator.opened_catalog import OpenedCatalog, policy_of
from discreet.data.catalog.catalog import Catalog, outline
from discreet.data.catalog.edits import with_renewal
from discreet.data.catalog.sources import type_warnings
from discreet.data.catalog.writer import CatalogChange, Edit, change_catalog
from discreet.privacy.ledger.entry import alert_of, part_used
from discreet.privacy.ledger.ledger import Ledger
from discreet.privacy.ledger.reports import (
    budget_report,
    budget_words,
    history_report,
    share_report,
    standing_of,
)


def alerts_of(catalog: Catalog, ledger: Ledger) -> dict[str, dict[str, Any]]:
    """Return of every budget how much of it is used, and the alert where it passed the owner's mark."""
    found: dict[str, dict[str, Any]] = {}
    for name, budget in sorted(catalog.budgets.items()):
        spent = ledger.balance(name)
        alert = alert_of(spent, budget.alert)
        found[name] = {
            "used": float(part_used(spent)),
            "mark": float(budget.alert),
            "alert": None if alert is None else alert.value,
        }
    return found


def notes_of(catalog: Catalog, ledger: Ledger) -> dict[str, list[str]]:
    """Return what people should read beside the gauge of each dataset: its end is near, it renews."""
    alerts, policies = alerts_of(catalog, ledger), renewals(catalog)
    notes: dict[str, list[str]] = {}
    for name, dataset in catalog.datasets.items():
        found, lines = alerts[dataset.budget], []
        if found["alert"] is not None:
            lines.append(f"  {found['alert']}: {found['used']:.0%} is used")
        if name in policies:
            lines.append(f"  {policies[name]['words']}")
        notes[name] = lines
    return notes


def renewals(catalog: Catalog) -> dict[str, dict[str, Any]]:
    """Return the policies of the budgets that renew, by dataset, each also in `words`."""
    found: dict[str, dict[str, Any]] = {}
    for name, dataset in catalog.datasets.items():
        budget = catalog.budget_of(dataset)
        policy = budget.renewal
        if policy is not None:
            found[name] = {
                "every": policy.every.value,
                "epsilon": float(policy.epsilon),
                "granted": list(policy.granted),
                "at_most": policy.at_most,
                "lifetime": float(policy.lifetime(budget.epsilon)),
                "words": policy.words(budget.epsilon),
            }
    return found


def renew_budget(config: Path, dataset: str, *, today: dt.date | None = None) -> dict[str, Any]:
    """Return what a renewal by the declared policy has changed; the ledger has recorded it.

    Guarantee: the file changes whole or not at all, and the ledger follows the file, here or the next time that
    anybody opens it. What was spent stays spent: only the limit rises.
    """
    changed = change_catalog(config, renewal_of(dataset, today))
    new, done = changed.after, renewed_report(changed, dataset)
    who = f"{OWNER}, renewing for {done['period']},"
    Ledger.open(new.ledger_url, policy_of(new), base=new.base, who=who).close()
    return done


def renewal_of(dataset: str, today: dt.date | None = None) -> Edit:
    """Return the change of a discreet.toml that renews a budget for the period of `today`, by its declared policy."""
    day = dt.datetime.now(dt.UTC).date() if today is None else today
    return lambda text, catalog: with_renewal(text, catalog, dataset, day)


def renewed_report(changed: CatalogChange, dataset: str) -> dict[str, Any]:
    """Return a renewal as an object for people and programs."""
    before, after = (
        each.budget_of(each.dataset(dataset)) for each in (changed.before, changed.after)
    )
    assert after.renewal is not None, "what was renewed renews"
    return {
        "budget": after.name,
        "period": after.renewal.granted[-1],
        **Spent.declared(after).to_json(),
        "before": Spent.declared(before).to_json(),
        "left": after.renewal.left,
        "lifetime": float(after.renewal.lifetime(after.epsilon)),
        "words": after.renewal.words(after.epsilon),
    }


class Reporting(OpenedCatalog):
    """Catalog, budgets and history of one catalog, as plain values."""

    def warnings(self) -> tuple[str, ...]:
        """Return what the owner should look at in the catalog. For the owner only."""
        types = type_warnings(self.catalog, self.engine)
        return (*self.catalog.warnings, *types, *stale_words(self))

    def versions(self, dataset: str | None = None) -> list[dict[str, Any]]:
        """Return which version of the tables questions read, and whether their rows are others by now.

        For the owner only: `changed` depends on rows.
        """
        return [version for each in self._named(dataset) for version in versions_report(self, each)]

    def refresh(
        self, dataset: str | None = None, *, table: str | None = None
    ) -> list[dict[str, Any]]:
        """Let questions read the rows as they are now, and return the versions that have begun.

        Everybody who may ask can see that a version began. For the owner only.
        """
        begun = [
            version.group
            for each in self._named(dataset)
            for version in begin_versions(self, each, () if table is None else (table,))
        ]
        return [each for each in self.versions(dataset) if each["group"] in begun]

    def _named(self, dataset: str | None) -> list[Dataset]:
        if dataset is not None:
            return [self.catalog.dataset(dataset)]
        return list(self.catalog.datasets.values())

    def budget_report(self) -> BudgetReport:
        """Return what each dataset has spent and has left, who is most exposed, and each analyst's shares."""
        found = budget_report(self.ledger, self._paid_by(), describe=self.catalog.describe_region)
        alerts, policies = self.budget_alerts(), renewals(self.catalog)
        shares = self.share_report()["datasets"]
        for name, facts in found["datasets"].items():
            alert = alerts[facts["budget"]]["alert"]
            facts.update(shares[name], alert=alert, renewal=policies.get(name))
        exposed = self._exposed_without_budget()
        more = {"without_budget": exposed} if exposed else {}
        return BudgetReport({"analyst": None, **found, "analysts": self.analysts_report(), **more})

    def analysts_report(self) -> dict[str, dict[str, Any]]:
        """Return of every analyst limit, spent and left of their shares."""
        return {name: self.share_report(name)["datasets"] for name in self.catalog.analysts}

    def budget_alerts(self) -> dict[str, dict[str, Any]]:
        """Return of every budget how much is used, and an alert where that passed its mark. For the owner."""
        return alerts_of(self.catalog, self.ledger)

    def budget_words(self, *, last: int = 10) -> str:
        """Return gauge, history and most exposed group of each dataset, for a terminal."""
        known = budget_words(
            self.ledger,
            self._paid_by(),
            describe=self.catalog.describe_region,
            last=last,
            notes=notes_of(self.catalog, self.ledger),
        )
        exposed = [
            f"{name} (no budget yet)\n  released without any guarantee: {', '.join(columns)}"
            for name, columns in self._exposed_without_budget().items()
        ]
        return "\n\n".join([known, *exposed])

    def _exposed_without_budget(self) -> dict[str, list[str]]:
        """Return what left datasets that have no budget yet, by dataset."""
        found = {name: self.ledger.exposed(name) for name in self.catalog.unfinished}
        return {name: list(columns) for name, columns in found.items() if columns is not None}

    def _paid_by(self, datasets: Collection[str] | None = None) -> dict[str, str]:
        return {
            dataset.name: dataset.budget
            for dataset in self.catalog.datasets.values()
            if datasets is None or dataset.name in datasets
        }

    def visible(self, analyst: str | None) -> tuple[str, ...]:
        """Return the datasets that an analyst has a share in; all of them for None, the owner."""
        return tuple(
            self.catalog.datasets if analyst is None else self.catalog.analysts.get(analyst, ())
        )

    def outline(self, analyst: str | None = None) -> dict[str, Any]:
        """Return what `analyst` may ask, as `datasets_report`; for None, the owner, all that is declared.

        The owner also sees what is unfinished, what is doubtful, and who the analysts are.
        """
        found = self.datasets_report(analyst)
        if analyst is not None:
            return found
        return found | {
            "unfinished": dict(self.catalog.unfinished),
            "warnings": list(self.warnings()),
            "analysts": list(self.catalog.analysts),
        }

    def datasets_report(self, analyst: str | None = None) -> dict[str, Any]:
        """Return tables, columns, domains in words, units, and what is left of each dataset."""
        found, left = outline(self.catalog, self.visible(analyst)), self.share_report(analyst)
        return {
            "datasets": {
                name: facts | {"left": left["datasets"][name]} for name, facts in found.items()
            }
        }

    def share_report(self, analyst: str | None = None) -> dict[str, Any]:
        """Return limit, spent and left of one analyst's shares, or of whole budgets for None."""
        return share_report(self.ledger, self._paid_by(self.visible(analyst)), analyst)

    def history(
        self, *, last: int = 50, analysts: Collection[str | None] | None = None
    ) -> list[dict[str, Any]]:
        """Return the last entries of the ledger, latest first; only these analysts' if given.

        An analyst who is no longer in the catalog has none, nor has one who lost a share.
        """
        if analysts is None:
            return history_report(self.ledger, last=last)
        found = history_report(self.ledger, last=last, analysts=analysts)
        return [entry for entry in found if self._shares(entry["analyst"], entry["dataset"])]

    def _shares(self, analyst: str | None, dataset: str) -> bool:
        return analyst is None or dataset in self.catalog.analysts.get(analyst, ())

    def standing(self, request_id: str, *, analyst: str | None = None) -> str | None:
        """Return what has become of a request: paid, running, answered, failed or lost.

        None: nothing was charged under this id.
        """
        return standing_of(self.ledger, self.account_of(analyst), request_id)

    def stored_answer(self, request_id: str, *, analyst: str | None = None) -> Answer | None:
        """Return the answer that this analyst was given under this request id, if there is one.

        There is none for an analyst whose share in its dataset was taken away.
        """
        payer = self.account_of(analyst)
        payload = self.ledger.stored_answer(request_id, payer)
        # Answers are JSON; what a synthesis has stored is a compressed model, and no answer.
        if not payload or not payload.startswith(b"{"):
            return None
        answer = unpack(payload).answer
        return answer if self._shares(payer, answer.provenance.dataset) else None
