"""Evaluation of keyword search on transcribed lines."""
